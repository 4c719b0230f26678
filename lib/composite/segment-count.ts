/**
 * How many segments a key has: the record `segments/<key>`, such as `{"segments":16}`. Who may change it, and why nobody
 * works under another count meanwhile, stands in `segmented-lock.ts`.
 */
import { BoundedMap } from '../async/collections.js';
import { LockConfigurationError } from '../contract/errors.js';
import type { RecordStore, StoredRecord } from '../contract/record-store.js';
import { checkSegments } from '../contract/segment.options.js';

/** What the record says. */
interface Counted {
  readonly segments: number;
  /** The count that somebody has begun to change to, who is not done, and may never be. */
  readonly resizingTo?: number | undefined;
}

/** What a count is made with. */
interface CountSource {
  readonly key: string;
  readonly records: RecordStore;
  /** What is recorded where nothing is. */
  readonly initial: number;
  readonly known: KnownCounts;
  /** Tells an operator. */
  readonly warn: (message: string) => void;
}

export class SegmentCount {
  readonly #source: CountSource;
  readonly #name: string;

  constructor(source: CountSource) {
    this.#source = source;
    this.#name = `segments/${source.key}`;
  }

  /** What the count most likely is. Nothing may be done under it before it is confirmed. */
  get expected(): number {
    return this.#source.known.get(this.#name) ?? this.#source.initial;
  }

  /** What is recorded; the first to ask records what the options say. */
  async read(): Promise<Counted & { readonly version: number }> {
    const { records, initial } = this.#source;
    for (;;) {
      const record = await records.read(this.#name);
      if (record) return this.#noted(record);
      await this.#write({ segments: initial }, 'absent');
    }
  }

  /**
   * The recorded count, once nobody can change it any more behind the back of the caller, who holds segments under
   * the count `expected`. Whoever has begun a change of that count has lost their leases, and is told so by their last write.
   */
  async confirm(expected: number): Promise<number> {
    for (;;) {
      const { segments, resizingTo, version } = await this.read();
      if (segments !== expected || resizingTo === undefined) return segments;
      if ((await this.#write({ segments }, version)) !== undefined) this.#warnOfRemains(segments, resizingTo);
    }
  }

  /** Writes over what is in this version. @returns the new version; `undefined` when somebody else was first */
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

// A guess that is forgotten costs one acquisition; keys come and go.
const MOST_KNOWN = 10_000;

/** The counts that were found recorded and are not what the options say. A hint: whoever acquires reads the record. */
export class KnownCounts {
  readonly #counts = new BoundedMap<number>(MOST_KNOWN);

  /** What was found last; `undefined` where the options were right, as far as anybody here knows. */
  get(name: string): number | undefined {
    return this.#counts.get(name);
  }

  /** Remembers what was found where `guess` was expected. Says whether that is news. */
  note(name: string, found: number, guess: number): boolean {
    if (found === (this.#counts.get(name) ?? guess)) return false;
    this.#counts.set(name, found);
    return true;
  }
}
