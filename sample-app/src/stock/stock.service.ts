import { setTimeout as pause } from 'node:timers/promises';
import { ConflictException, Injectable } from '@nestjs/common';
import { DistributedLock } from 'nestjs-distributed-lock';
import { ShopFiles } from '../files/shop-files.js';

const THINKING_TAKES_MS = 3;

@Injectable()
export class StockService {
  constructor(private readonly files: ShopFiles) {}

  /** Reads, computes, writes. Two callers that read the same number would sell the same unit. */
  @DistributedLock('stock')
  async takeOne(): Promise<void> {
    const left = await this.files.read<number>('stock');
    if (left === 0) throw new ConflictException('sold out');
    await pause(THINKING_TAKES_MS);
    await this.files.write('stock', left - 1);
  }
}
