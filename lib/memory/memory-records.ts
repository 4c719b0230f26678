import { checkChanges, UNCHANGED } from '../contract/record-store.js';
import type { RecordChange, RecordStore, RecordWrite, StoredRecord } from '../contract/record-store.js';

/** Records inside one process: the reference implementation of the contract. */
export class MemoryRecords implements RecordStore {
  readonly #records = new Map<string, StoredRecord>();

  async read(name: string): Promise<StoredRecord | undefined> {
    return this.#records.get(name);
  }

  async readAll(names: readonly string[]): Promise<readonly (StoredRecord | undefined)[]> {
    return names.map((name) => this.#records.get(name));
  }

  async list(name: string): Promise<readonly string[]> {
    const below = `${name}/`;
    const names = [...this.#records.keys()].filter((other) => other.startsWith(below));
    return [...new Set(names.map((other) => other.slice(below.length).split('/', 1)[0] ?? ''))];
  }

  async write(changes: readonly RecordChange[]): Promise<RecordWrite> {
    checkChanges(changes);
    const conflict = changes.find((change) => !this.#isAsExpected(change));
    if (conflict) return { isApplied: false, conflict: conflict.name };
    const records = changes.map((change) => this.#apply(change)).filter((record) => record !== undefined);
    return { isApplied: true, records };
  }

  #isAsExpected({ name, ifVersion }: RecordChange): boolean {
    if (ifVersion === undefined) return true;
    const version = this.#records.get(name)?.version;
    return ifVersion === 'absent' ? version === undefined : version === ifVersion;
  }

  #apply({ name, value }: RecordChange): StoredRecord | undefined {
    const before = this.#records.get(name);
    if (value === UNCHANGED) return undefined;
    if (value === undefined) return void this.#records.delete(name);
    const record = { name, value, version: before ? before.version + 1 : 0, writtenAt: new Date() };
    this.#records.set(name, record);
    return record;
  }
}
