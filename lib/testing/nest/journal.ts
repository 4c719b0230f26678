import { deferred } from '../../async/deferred.js';
import type { Deferred } from '../../async/deferred.js';
import type { LeaseMode } from '../../contract/lease.js';

/**
 * What happened to one acquisition.
 * - `asked`: somebody wants the key.
 * - `acquired`, then `released` or `lost`; `suspended`, `resumed` and `revoked` in between.
 * - or `timed out`: somebody else had it for all of `waitMs`, or was ahead of a caller that does not wait.
 * - or `unavailable`: no server answered.
 * - or `failed`: for any other reason, which is the entry's `error`: the caller's own `signal.reason`, a shutdown, …
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

export interface JournalEntry {
  /** From 1 on, in the order in which things happened, whatever the key. */
  readonly order: number;
  readonly event: JournalEvent;
  /** As the application wrote it; of several keys and of segments, there are entries for each. */
  readonly key: string;
  /** How the lease is held; `'leader'`: the key is the name of an election, and the lease is a term. */
  readonly mode: LeaseMode | 'leader';
  /** Of a decorated method `Class.method` unless it says; of a call, what it gave as `label`. */
  readonly label: string | undefined;
  /** From `acquired` on. */
  readonly fencingToken?: bigint;
  /** Why it is over, where it is over for a reason. */
  readonly error?: unknown;
}

/** What an entry is looked for by. */
export type JournalQuery = Partial<Pick<JournalEntry, 'event' | 'key' | 'mode' | 'label'>>;

interface Lookout {
  readonly query: JournalQuery;
  readonly found: Deferred<JournalEntry>;
}

/**
 * What was locked, in order, caller by caller: locks, permits, segments, and the terms of elections. That a caller enters a
 * key that it holds already is no entry, nor is a call that is refused before anybody is asked: they acquire nothing. What
 * becomes of queues, barriers and shared values is not in it.
 */
export class Journal {
  #entries: JournalEntry[] = [];
  #count = 0;
  readonly #lookouts = new Set<Lookout>();

  get entries(): readonly JournalEntry[] {
    return this.#entries;
  }

  /** Those that match. */
  where(query: JournalQuery): readonly JournalEntry[] {
    return this.#entries.filter((entry) => matches(entry, query));
  }

  /** The first that matches, as soon as there is one. For a test that waits for something to happen. */
  async seen(query: JournalQuery): Promise<JournalEntry> {
    const [known] = this.where(query);
    return known ?? this.next(query);
  }

  /** The next that matches, from now on. */
  next(query: JournalQuery): Promise<JournalEntry> {
    const lookout = { query, found: deferred<JournalEntry>() };
    this.#lookouts.add(lookout);
    return lookout.found.promise;
  }

  /** Forgets the entries; the numbers go on. */
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
