import { setTimeout as pause } from 'node:timers/promises';
import type { ShopFiles } from '../files/shop-files.js';

const COMMIT_TAKES_MS = 3;

/**
 * One transaction over stores that each commit by themselves: what it has changed so far, everybody sees at once. When
 * it fails, the rows are set back to what they were before it. That is right only if nobody else has used them since:
 * whoever runs it holds the locks of its rows until it is over.
 */
export class GlobalTransaction {
  private readonly before: { readonly row: string; readonly value: number }[] = [];

  constructor(private readonly files: ShopFiles) {}

  async change(row: string, by: number): Promise<void> {
    const value = await this.files.read<number>(row);
    await pause(COMMIT_TAKES_MS);
    await this.files.write(row, value + by);
    this.before.push({ row, value });
  }

  async rollBack(): Promise<void> {
    for (const { row, value } of this.before.reverse()) await this.files.write(row, value);
  }
}
