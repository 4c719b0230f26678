import type { RecordChange, RecordStore, RecordWrite, StoredRecord } from '../../contract/record-store.js';

/** Records of another store, for as long as it can be reached. */
export class ReachableRecords implements RecordStore {
  readonly #inner: RecordStore;
  readonly #assertReachable: () => void;

  /** @param assertReachable throws why it can not be */
  constructor(inner: RecordStore, assertReachable: () => void) {
    this.#inner = inner;
    this.#assertReachable = assertReachable;
  }

  async read(name: string): Promise<StoredRecord | undefined> {
    this.#assertReachable();
    return this.#inner.read(name);
  }

  async readAll(names: readonly string[]): Promise<readonly (StoredRecord | undefined)[]> {
    this.#assertReachable();
    return this.#inner.readAll(names);
  }

  async list(name: string): Promise<readonly string[]> {
    this.#assertReachable();
    return this.#inner.list(name);
  }

  async write(changes: readonly RecordChange[]): Promise<RecordWrite> {
    this.#assertReachable();
    return this.#inner.write(changes);
  }
}
