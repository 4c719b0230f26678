/** Record stores in memory that break one promise each, as real ones have. */
import { UNCHANGED } from '../../../../lib/contract/record-store.js';
import type { RecordChange, RecordWrite, StoredRecord } from '../../../../lib/contract/record-store.js';
import { MemoryRecords } from '../../../../lib/memory/memory-records.js';

const turn = () => new Promise(setImmediate);

export class IgnoresVersions extends MemoryRecords {
  override write(changes: readonly RecordChange[]): Promise<RecordWrite> {
    return super.write(
      changes.map((change) => {
        const { ifVersion: _, ...rest } = Object(change) as RecordChange;
        return rest;
      }),
    );
  }
}

export class WritesOneByOne extends MemoryRecords {
  override async write(changes: readonly RecordChange[]): Promise<RecordWrite> {
    const records: StoredRecord[] = [];
    for (const change of changes) {
      const write = await super.write([change]);
      if (!write.isApplied) return write;
      records.push(...write.records);
    }
    return { isApplied: true, records };
  }
}

export class ReadsOneByOne extends MemoryRecords {
  override async readAll(names: readonly string[]): Promise<readonly (StoredRecord | undefined)[]> {
    const records = [];
    for (const name of names) {
      records.push(await this.read(name));
      for (let turns = 0; turns < 3; turns++) await turn();
    }
    return records;
  }
}

export class ListsEncoded extends MemoryRecords {
  override async list(name: string): Promise<readonly string[]> {
    return (await super.list(name)).map(encodeURIComponent);
  }
}

export class CutsLongValues extends MemoryRecords {
  override write(changes: readonly RecordChange[]): Promise<RecordWrite> {
    const cut = ({ value }: RecordChange) => (typeof value === 'string' ? { value: value.slice(0, 1_000) } : {});
    return super.write(changes.map((change) => ({ ...change, ...cut(change) })));
  }
}

export class CountsFromOne extends MemoryRecords {
  override async write(changes: readonly RecordChange[]): Promise<RecordWrite> {
    const write = await super.write(changes);
    if (!write.isApplied) return write;
    return { ...write, records: write.records.map((record) => ({ ...record, version: record.version + 1 })) };
  }
}

export class RemovesAllBelow extends MemoryRecords {
  override async write(changes: readonly RecordChange[]): Promise<RecordWrite> {
    const removed = changes.filter(({ value }) => value === undefined);
    const below = await Promise.all(
      removed.map(async ({ name }) => (await this.list(name)).map((one) => `${name}/${one}`)),
    );
    const named = new Set(changes.map(({ name }) => name));
    const more = below.flat().filter((name) => !named.has(name));
    return super.write([...changes, ...more.map((name) => ({ name, value: undefined }))]);
  }
}

export class NamesAnotherConflict extends MemoryRecords {
  override async write(changes: readonly RecordChange[]): Promise<RecordWrite> {
    const write = await super.write(changes);
    return write.isApplied ? write : { ...write, conflict: 'somewhere' };
  }
}

export class WritesWhatIsUnchanged extends MemoryRecords {
  override write(changes: readonly RecordChange[]): Promise<RecordWrite> {
    return super.write(changes.map((change) => (change.value === UNCHANGED ? { ...change, value: '' } : change)));
  }
}

export class TakesBackTheClock extends MemoryRecords {
  #clock = 0;

  override async write(changes: readonly RecordChange[]): Promise<RecordWrite> {
    const write = await super.write(changes);
    if (!write.isApplied) return write;
    return { ...write, records: write.records.map((record) => ({ ...record, writtenAt: new Date(--this.#clock) })) };
  }
}

export class CanNotWriteTwice extends MemoryRecords {
  readonly #known = new Set<string>();

  override async write(changes: readonly RecordChange[]): Promise<RecordWrite> {
    const conflict = changes.find(({ name, ifVersion }) => ifVersion === 'absent' && this.#known.has(name))?.name;
    if (conflict !== undefined) return { isApplied: false, conflict };
    for (const { name } of changes) this.#known.add(name);
    return super.write(changes);
  }
}

export class TakesWhatLeadsToARecordForOne extends MemoryRecords {
  override async read(name: string): Promise<StoredRecord | undefined> {
    const record = await super.read(name);
    if (record || (await this.list(name)).length === 0) return record;
    return { name, value: '', version: 0, writtenAt: new Date() };
  }
}

export class FindsWhatIsNotThere extends MemoryRecords {
  override async read(name: string): Promise<StoredRecord | undefined> {
    return (await super.read(name)) ?? { name, value: '', version: 0, writtenAt: new Date() };
  }
}

export class RefusesNothing extends MemoryRecords {
  override async write(changes: readonly RecordChange[]): Promise<RecordWrite> {
    return changes.length === 0 ? { isApplied: false, conflict: '' } : super.write(changes);
  }
}

export class RefusesConditions extends MemoryRecords {
  override async write(changes: readonly RecordChange[]): Promise<RecordWrite> {
    const conditional = changes.find(({ ifVersion }) => ifVersion !== undefined);
    return conditional ? { isApplied: false, conflict: conditional.name } : super.write(changes);
  }
}
