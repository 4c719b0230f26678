/**
 * The number of segments of a key: the record `segments/<key>`, such as `{"segments":16}`. `segmented-lock.ts` explains
 * who may change it, and why no work runs under another count meanwhile.
 */
import { BoundedMap } from '../async/collections.js';
import { LockConfigurationError } from '../contract/errors.js';
import type { RecordStore, StoredRecord } from '../contract/record-store.js';
import { checkSegments } from '../contract/segment.options.js';

/** The content of the record. */
interface Counted {
  readonly segments: number;
  /** The new count of a resize that has begun. The resize has not finished, and may never finish. */
  readonly resizingTo?: number | undefined;
}

/** The dependencies of a `SegmentCount`. */
interface CountSource {
  readonly key: string;
  readonly records: RecordStore;
  /** The count that is recorded when there is no record. */
  readonly initial: number;
  readonly known: KnownCounts;
  /** Warns an operator. */
  readonly warn: (message: string) => void;
}

export class SegmentCount {
  readonly #source: CountSource;
  readonly #name: string;

  constructor(source: CountSource) {
    this.#source = source;
    this.#name = `segments/${source.key}`;
  }

  /** The most likely count. Nothing may be done under it before it is confirmed. */
  get expected(): number {
    return this.#source.known.get(this.#name) ?? this.#source.initial;
  }

  /** Reads the recorded count. If there is no record, records the count that the options say. */
  async read(): Promise<Counted & { readonly version: number }> {
    const { records, initial } = this.#source;
    for (;;) {
      const record = await records.read(this.#name);
      if (record) return this.#noted(record);
      await this.#write({ segments: initial }, 'absent');
    }
  }

  /**
   * Returns the recorded count once no resize that has begun can change it any more. The caller holds segments under
   * the count `expected`.
   *
   * A resizer that has begun to change that count must have lost its leases. This call removes its mark, so its last
   * write fails.
   */
  async confirm(expected: number): Promise<number> {
    for (;;) {
      const { segments, resizingTo, version } = await this.read();
      if (segments !== expected || resizingTo === undefined) return segments;
      if ((await this.#write({ segments }, version)) !== undefined) this.#warnOfRemains(segments, resizingTo);
    }
  }

  /**
   * Replaces the record if it still has this version.
   * @returns the new version; `undefined` when another write was first
   */
  async replace(counted: Counted, version: number): Promise<number | undefined> {
    return this.#write(counted, version);
  }

  async #write(counted: Counted, ifVersion: number | 'absent'): Promise<number | undefined> {
    const { records, known, initial } = this.#source;
    const written = await records.write([{ name: this.#name, value: JSON.stringify(counted), ifVersion }]);
    if (!written.isApplied) return undefined;
    known.note(this.#name, counted.segments, initial);
    return written.records[0]?.version;
  }

  #noted(record: StoredRecord): Counted & { readonly version: number } {
    const counted = parsed(record);
    const { key, initial, known, warn } = this.#source;
    const isNews = known.note(this.#name, counted.segments, initial);
    if (isNews && counted.segments !== initial) {
      warn(`the number of segments of "${key}" is ${counted.segments} as recorded, not ${initial} as its options say`);
    }
    return { ...counted, version: record.version };
  }

  #warnOfRemains(segments: number, resizingTo: number): void {
    const { key, warn } = this.#source;
    warn(`a change of "${key}" from ${segments} to ${resizingTo} segments was begun and not ended; make it again`);
  }
}

function parsed({ name, value }: StoredRecord): Counted {
  try {
    const { segments, resizingTo } = JSON.parse(value) as Counted;
    checkSegments(segments);
    return { segments, resizingTo };
  } catch (cause) {
    throw new LockConfigurationError(`the record "${name}" is no count of segments`, { cause });
  }
}

// A forgotten count costs one acquisition. The bound keeps keys that are no longer used from accumulating.
const MOST_KNOWN = 10_000;

/** The recorded counts that differ from the options. They are only hints: every acquisition reads the record. */
export class KnownCounts {
  readonly #counts = new BoundedMap<number>(MOST_KNOWN);

  /**
   * Returns the count that was found last. `undefined` when it is that of the options, as far as this process knows.
   */
  get(name: string): number | undefined {
    return this.#counts.get(name);
  }

  /** Remembers the count that was found where `guess` was expected. Returns whether it is new. */
  note(name: string, found: number, guess: number): boolean {
    if (found === (this.#counts.get(name) ?? guess)) return false;
    this.#counts.set(name, found);
    return true;
  }
}
