import { deferred } from '../../async/deferred.js';
import type { Deferred } from '../../async/deferred.js';
import type { LeaseMode } from '../../contract/lease.js';

/**
 * An event of one acquisition.
 * - `asked`: a caller wants the key.
 * - `acquired`, then `released` or `lost`; `suspended`, `resumed` and `revoked` in between.
 * - or `timed out`: another holder had the key for all of `waitMs`, or was ahead of a caller that does not wait.
 * - or `unavailable`: no server answered.
 * - or `failed`: any other reason, which is the entry's `error`: the caller's own `signal.reason`, a shutdown, …
 */
export type JournalEvent =
  | 'asked'
  | 'acquired'
  | 'released'
  | 'lost'
  | 'suspended'
  | 'resumed'
  | 'revoked'
  | 'timed out'
  | 'unavailable'
  | 'failed';

/** An event of a lock. */
export interface JournalEntry {
  /** The entry's number, from 1 on, in the order of the events across all keys. */
  readonly order: number;
  /** The kind of the event. */
  readonly event: JournalEvent;
  /**
   * The key as the application wrote it. An acquisition of several keys, or of segments, has entries for each of them.
   */
  readonly key: string;
  /** The mode of the lease. With `'leader'`, the key is the name of an election, and the lease is a term. */
  readonly mode: LeaseMode | 'leader';
  /**
   * The acquisition's label. A decorated method has `Class.method` unless it specifies one; a call has its option
   * `label`.
   */
  readonly label: string | undefined;
  /** Present from `acquired` on. */
  readonly fencingToken?: bigint;
  /** The reason for the end, if there is one. */
  readonly error?: unknown;
}

/** The fields by which an entry is searched. */
export type JournalQuery = Partial<Pick<JournalEntry, 'event' | 'key' | 'mode' | 'label'>>;

interface Lookout {
  readonly query: JournalQuery;
  readonly found: Deferred<JournalEntry>;
}

/**
 * A record of all acquisitions in order, with entries for each caller: locks, permits, segments and election terms. Two
 * cases acquire nothing and have no entry: a re-entrant hold, and a call that is refused before the backend is asked.
 * Queues, barriers and shared values are not recorded.
 */
export class Journal {
  #entries: JournalEntry[] = [];
  #count = 0;
  readonly #lookouts = new Set<Lookout>();

  /** All entries since the start or the last `clear()`, in order. */
  get entries(): readonly JournalEntry[] {
    return this.#entries;
  }

  /** Returns the entries that match. */
  where(query: JournalQuery): readonly JournalEntry[] {
    return this.#entries.filter((entry) => matches(entry, query));
  }

  /**
   * Resolves with the first entry that matches, at once if there is one already. For a test that waits for an event.
   */
  async seen(query: JournalQuery): Promise<JournalEntry> {
    const [known] = this.where(query);
    return known ?? this.next(query);
  }

  /** Resolves with the next entry that matches. Earlier entries do not count. */
  next(query: JournalQuery): Promise<JournalEntry> {
    const lookout = { query, found: deferred<JournalEntry>() };
    this.#lookouts.add(lookout);
    return lookout.found.promise;
  }

  /** Removes the entries. The numbering continues. */
  clear(): void {
    this.#entries = [];
  }

  /** @internal */
  add(entry: Omit<JournalEntry, 'order'>): void {
    const added = { order: ++this.#count, ...entry };
    this.#entries.push(added);
    for (const lookout of this.#lookouts) {
      if (!matches(added, lookout.query)) continue;
      this.#lookouts.delete(lookout);
      lookout.found.resolve(added);
    }
  }
}

function matches(entry: JournalEntry, query: JournalQuery): boolean {
  return (Object.keys(query) as (keyof JournalQuery)[]).every((field) => entry[field] === query[field]);
}
