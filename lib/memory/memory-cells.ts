import type { Cell, CellChange, Cells, CellWrite } from '../contract/cells.js';
import { MemoryCrowd } from './memory-crowd.js';

/** Shared values of one process: the reference that the contract is read from. */
export class MemoryCells implements Cells {
  readonly #cells = new Map<string, Cell>();
  readonly #observers = new MemoryCrowd();
  #revisions = 0n;

  async read(key: string): Promise<Cell | undefined> {
    return this.#cells.get(key);
  }

  async write(key: string, { data, ifVersion }: CellChange): Promise<CellWrite> {
    const before = this.#cells.get(key);
    if (ifVersion !== undefined && (before?.version ?? 'absent') !== ifVersion) return { isApplied: false };
    const version = before ? before.version + 1 : 0;
    if (data === undefined) this.#cells.delete(key);
    else this.#cells.set(key, { data, version, revision: ++this.#revisions });
    this.#observers.look();
    return { isApplied: true, version: data && version };
  }

  async next(key: string, seen: Cell | undefined, signal: AbortSignal): Promise<Cell | undefined> {
    const now = () => this.#cells.get(key);
    await this.#observers.until(() => now()?.revision !== seen?.revision, signal);
    return now();
  }
}
