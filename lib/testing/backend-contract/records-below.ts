import type { RecordChange, RecordStore, RecordWrite, StoredRecord } from '../../contract/record-store.js';

/**
 * A view of the records below one name as a store of their own. The view is empty at first if no other user writes
 * below the name.
 */
export class RecordsBelow implements RecordStore {
  readonly #records: RecordStore;
  readonly #above: string;

  constructor(records: RecordStore, name: string) {
    this.#records = records;
    this.#above = `${name}/`;
  }

  async read(name: string): Promise<StoredRecord | undefined> {
    return this.#own(await this.#records.read(this.#above + name));
  }

  async readAll(names: readonly string[]): Promise<readonly (StoredRecord | undefined)[]> {
    const records = await this.#records.readAll(names.map((name) => this.#above + name));
    return records.map((record) => this.#own(record));
  }

  list(name: string): Promise<readonly string[]> {
    return this.#records.list(this.#above + name);
  }

  async write(changes: readonly RecordChange[]): Promise<RecordWrite> {
    const write = await this.#records.write(changes.map((change) => this.#outer(change)));
    if (!write.isApplied) return { ...write, conflict: this.#ownName(write.conflict) };
    return { ...write, records: write.records.map((record) => ({ ...record, name: this.#ownName(record.name) })) };
  }

  // An invalid name is left for the store to refuse.
  #outer(change: RecordChange): RecordChange {
    return change.name === '' ? change : { ...change, name: this.#above + change.name };
  }

  #own(record: StoredRecord | undefined): StoredRecord | undefined {
    return record && { ...record, name: this.#ownName(record.name) };
  }

  #ownName(name: string): string {
    return name.startsWith(this.#above) ? name.slice(this.#above.length) : name;
  }
}
