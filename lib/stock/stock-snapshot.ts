import { LockConfigurationError } from '../contract/errors.js';
import type { RecordChange, RecordStore, StoredRecord } from '../contract/record-store.js';
import { MOST_SEGMENTS } from '../contract/segment.options.js';
import { parsed } from './deduction.js';
import type { StockNames } from './stock-names.js';
import type { Levels } from './stock-plan.js';

type Version = number | 'absent';

interface Shelf {
  readonly units: number;
  readonly version: Version;
}

/**
 * The segments of a built-in stock as they were last read or written: one record each, and the record of their number.
 * A plan on them is written only if the segments that it changes have not changed since.
 */
export class StockSnapshot {
  readonly #records: RecordStore;
  readonly #names: StockNames;
  #head: Version = 'absent';
  #snapshot: readonly Shelf[] = [];
  #isKnown = false;

  constructor(records: RecordStore, names: StockNames) {
    this.#records = records;
    this.#names = names;
  }

  /** Whether there are levels to plan on. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  get levels(): Levels {
    return this.#snapshot.map(({ units }) => units);
  }

  /** Reads all segments as they are at one moment. */
  async read(): Promise<void> {
    for (let segments = this.#snapshot.length; ; segments = this.#snapshot.length) {
      const names = Array.from({ length: segments }, (_, segment) => this.#names.segment(segment));
      const [head, ...records] = await this.#records.readAll([this.#names.head, ...names]);
      const recorded = head ? segmentsOf(head) : 0;
      this.#head = head?.version ?? 'absent';
      this.#snapshot = Array.from({ length: recorded }, (_, segment) => shelfOf(records[segment]));
      this.#isKnown = recorded <= segments;
      if (this.#isKnown) return;
    }
  }

  forget(): void {
    this.#isKnown = false;
  }

  /** Returns the record changes that turn the known levels into these. */
  changesTo(levels: Levels): RecordChange[] {
    const changes = levels.flatMap((units, segment): RecordChange | [] => {
      const { units: before = 0, version = 'absent' } = this.#snapshot[segment] ?? {};
      if (units === before) return [];
      return { name: this.#names.segment(segment), value: String(units), ifVersion: version };
    });
    const { length } = levels;
    if (length <= this.#snapshot.length) return changes;
    return [{ name: this.#names.head, value: JSON.stringify({ segments: length }), ifVersion: this.#head }, ...changes];
  }

  /** Updates the snapshot after these levels were written. */
  written(levels: Levels, records: readonly StoredRecord[]): void {
    const versions = new Map(records.map(({ name, version }) => [name, version]));
    this.#head = versions.get(this.#names.head) ?? this.#head;
    this.#snapshot = levels.map((units, segment) => {
      const before = this.#snapshot[segment]?.version ?? 'absent';
      return { units, version: versions.get(this.#names.segment(segment)) ?? before };
    });
  }
}

function segmentsOf(head: StoredRecord): number {
  const { segments = 0 } = Object(parsed(head)) as { segments?: number };
  if (Number.isInteger(segments) && segments >= 1 && segments <= MOST_SEGMENTS) return segments;
  throw new LockConfigurationError(`the record "${head.name}" is no number of segments`);
}

function shelfOf(record: StoredRecord | undefined): Shelf {
  if (!record) return { units: 0, version: 'absent' };
  const units = Number(record.value);
  if (record.value !== '' && Number.isSafeInteger(units) && units >= 0) return { units, version: record.version };
  throw new LockConfigurationError(`the record "${record.name}" is no number of units`);
}
