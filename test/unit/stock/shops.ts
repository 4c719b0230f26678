import { onTestFinished } from 'vitest';
import { LockConfigurationError } from '../../../lib/contract/errors.js';
import type { RecordChange, RecordStore, RecordWrite, StoredRecord } from '../../../lib/contract/record-store.js';
import { MemoryBackend } from '../../../lib/memory/memory.backend.js';
import { MemoryRecords } from '../../../lib/memory/memory-records.js';
import { LockService } from '../../../lib/service/lock.service.js';

/** Records that tests can delay, observe and break. */
export class WatchedRecords implements RecordStore {
  readonly #inner = new MemoryRecords();
  readonly writes: (readonly RecordChange[])[] = [];
  mostChanges?: number;
  /** Called before each write. The write rejects when this rejects. */
  beforeWrite: (changes: readonly RecordChange[]) => Promise<void> = async () => {};
  /** Called after each write, before it resolves. The write rejects when this rejects. */
  afterWrite: (changes: readonly RecordChange[]) => Promise<void> = async () => {};
  /** Whether a read of this record alone is never answered. */
  isHanging: (name: string) => boolean = () => false;

  async read(name: string): Promise<StoredRecord | undefined> {
    await passing();
    if (this.isHanging(name)) return new Promise(() => {});
    return this.#inner.read(name);
  }

  async readAll(names: readonly string[]): Promise<readonly (StoredRecord | undefined)[]> {
    await passing();
    return this.#inner.readAll(names);
  }

  async list(name: string): Promise<readonly string[]> {
    await passing();
    return this.#inner.list(name);
  }

  async write(changes: readonly RecordChange[]): Promise<RecordWrite> {
    this.writes.push(changes);
    await this.beforeWrite(changes);
    await passing();
    if (changes.length > (this.mostChanges ?? Infinity))
      throw new LockConfigurationError(`at most ${this.mostChanges} records at once, these are ${changes.length}`);
    const write = await this.#inner.write(changes);
    await this.afterWrite(changes);
    return write;
  }
}

/** Locks and records that several services share, as processes share a ZooKeeper ensemble. */
export class SharedBackend extends MemoryBackend {
  override readonly records = new WatchedRecords();
}

/** A service like that of another process. */
export function openShop(backend: MemoryBackend, waitMs = 30_000): LockService {
  // Every caller is a contender of its own, so that contenders can be counted.
  const localLine = false;
  const connectOnStart = 'required';
  return new LockService(backend, { connectionName: 'default', waitMs, drainTimeoutMs: 0, connectOnStart, localLine });
}

/** Any number of services on one backend, which is closed when the test has finished. */
export function openShops(count: number): { backend: SharedBackend; shops: LockService[] } {
  const backend = new SharedBackend();
  onTestFinished(() => backend.close());
  return { backend, shops: Array.from({ length: count }, () => openShop(backend)) };
}

// Lets other callers run, as during a round trip.
function passing(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
