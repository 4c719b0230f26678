import { NEVER } from '../../async/abort.js';
import type { Dispose } from '../../async/abort.js';
import { after } from '../../async/timer.js';
import type { EtcdSession } from '../session/etcd-session.js';
import { isEntryOf, rangeBelow } from '../session/etcd-keys.js';
import type { QueueKeys } from '../session/etcd-keys.js';
import type { Watches } from '../session/watches.js';
import type { ReadOp } from '../wire/requests.js';
import type { KeyValue, ReadResult, WatchEvent } from '../wire/responses.js';
import { entryOf, inOrder, turnsOf } from './entry.js';
import type { Entry, EntryValue } from './entry.js';

/** The time after which a read that was refused is made again. */
const RETRY_MS = 100;

/** All entries of a wait queue at one revision. */
export interface QueueState {
  /** In their order. */
  readonly entries: readonly Entry[];
  /** The recorded number of permits, if there is one. */
  readonly number: number | undefined;
  readonly revision: number;
}

/** An own entry's place in the queue. */
export interface Place {
  readonly entry: Entry;
  readonly isTurn: boolean;
  /** Whether an entry waits. `undefined`: that is not known. */
  readonly isWanted: boolean | undefined;
}

/** A listener for the place of one entry. */
export interface ViewFollower {
  readonly entryKey: string;
  /** The revision of its creation. */
  readonly created: number;
  /** Whether it waits for its turn, and does not have it already. */
  readonly isWaiting: boolean;
  /** Called at each change. `undefined`: the entry is gone. */
  placed(place: Place | undefined): void;
}

/** The reads that show a wait queue. */
export function readsOf({ entries, number }: QueueKeys): readonly ReadOp[] {
  const queue: ReadOp = { kind: 'read', ...rangeBelow(entries), inOrderOf: 'creation' };
  return number === undefined ? [queue] : [queue, { kind: 'read', key: number }];
}

/**
 * Returns the entries among keys that were found in their place, in their order.
 * @param own an entry of this process: its value is known unless it was written again
 */
export function entriesOf(queue: QueueKeys, found: readonly KeyValue[], own?: OwnEntry): readonly Entry[] {
  const entries: Entry[] = [];
  for (const kv of found) {
    const { key, created, modified } = kv;
    if (key === own?.entryKey && modified === created) entries.push({ ...own.value, key, created, modified });
    else if (isEntryOf(queue, key)) entries.push(entryOf(kv, queue.hasBareValues));
  }
  return inOrder(entries);
}

/** An entry of this process, as it was put. */
interface OwnEntry {
  readonly entryKey: string;
  readonly value: EntryValue;
}

/** Returns what the reads of `readsOf` have found. @param own as for `entriesOf` */
export function stateOf(
  queue: QueueKeys,
  [found, number]: readonly ReadResult[],
  revision: number,
  own?: OwnEntry,
): QueueState {
  const recorded = number?.found[0]?.value.toString();
  const entries = entriesOf(queue, found?.found ?? [], own);
  return { entries, number: recorded === undefined ? undefined : Number(recorded), revision };
}

/**
 * A copy of a wait queue, which a watch keeps. Deletions are final and new entries come last: a copy that is behind
 * makes a hand-over late, and never wrong. The number of permits has a watch of its own, and no order between the two
 * is certain: while an entry of this process waits, each change of such a queue leads to a read of both, and only that
 * tells whose turn it is.
 */
export class QueueView {
  readonly #session: EtcdSession;
  readonly #watches: Watches;
  readonly #queue: QueueKeys;
  readonly #lookEveryMs: number;
  readonly #followers = new Set<ViewFollower>();
  #entries = new Map<string, Entry>();
  #number: number | undefined;
  /** The revision that the entries have reached. -1: nothing is known yet. */
  #revision = -1;
  /** The revision of the last read. */
  #readAt = -1;
  /** The first revision of a read after which nothing is missing. */
  #needed = -1;
  /** The last change of a queue with a number. Only a read after it tells whose turn it is. */
  #changedAt = -1;
  #endWatches: readonly Dispose[] = [];
  #read: 'done' | 'under way' | 'failed' = 'done';
  /** The events since the last read was sent. */
  #sinceRead: WatchEvent[] = [];
  #isEnded = false;
  #cancelLook: Dispose = () => {};

  constructor(session: EtcdSession, watches: Watches, queue: QueueKeys, lookEveryMs: number) {
    this.#session = session;
    this.#watches = watches;
    this.#queue = queue;
    this.#lookEveryMs = lookEveryMs;
  }

  get isUnused(): boolean {
    return this.#followers.size === 0;
  }

  get #isIncomplete(): boolean {
    return this.#readAt < Math.max(this.#needed, this.#changedAt);
  }

  /** Whether a read has to show a change. A follower that has its turn already is told by the change itself. */
  get #needsRead(): boolean {
    if (this.#readAt < this.#needed) return true;
    return this.#isIncomplete && [...this.#followers].some(({ isWaiting }) => isWaiting);
  }

  /** Follows one entry until disposed. @param state the queue as it was found, if it was read */
  follow(follower: ViewFollower, state?: QueueState): Dispose {
    this.#followers.add(follower);
    if (this.#revision < 0 && state) this.#begin(state);
    else if (this.#revision < 0) this.#load();
    else if (this.#isIncomplete) this.#needsReadAt(this.#changedAt);
    else this.#tell([follower]);
    return () => void this.#followers.delete(follower);
  }

  end(): void {
    this.#isEnded = true;
    this.#cancelLook();
    this.#endWatches.forEach((end) => end());
    this.#endWatches = [];
    this.#followers.clear();
  }

  #begin(state: QueueState): void {
    this.#take(state);
    const listener = {
      changed: (events: readonly WatchEvent[]) => this.#changed(events),
      // Some servers forget also a deletion at that revision. There may be no later one yet.
      missed: (compactRevision: number) => this.#needsReadAt(compactRevision),
    };
    const { entries, number } = this.#queue;
    const ranges = number === undefined ? [rangeBelow(entries)] : [rangeBelow(entries), { key: number }];
    this.#endWatches = ranges.map((range) => {
      const { created, end } = this.#watches.watch(range, listener);
      // A change between the read and the watch is seen by neither of them.
      void created.then((revision) => this.#needsReadAt(revision));
      return end;
    });
    this.#lookLater();
    this.#tell(this.#followers);
  }

  /** Changes up to this revision may be missing. Until they are read, an entry that is not there may not be gone. */
  #needsReadAt(revision: number): void {
    if (revision <= this.#readAt) return;
    this.#needed = Math.max(this.#needed, revision);
    this.#load();
  }

  #take({ entries, number, revision }: QueueState): void {
    this.#entries = new Map(entries.map((entry) => [entry.key, entry]));
    this.#number = number;
    this.#revision = revision;
    this.#readAt = revision;
  }

  /** Reads the queue. Events that come meanwhile may be older than what is read, or newer. */
  #load(): void {
    // When one is under way, its answer shows whether another one has to follow.
    if (this.#isEnded || this.#read === 'under way') return;
    this.#read = 'under way';
    this.#sinceRead = [];
    this.#session.read(readsOf(this.#queue), NEVER).then(
      ({ results, revision }) => this.#loaded(stateOf(this.#queue, results, revision)),
      // The session's end is told to its followers. A server that refuses is asked again.
      () => {
        this.#read = 'failed';
        if (!this.#session.isOver && !this.#isEnded) this.#lookLater();
      },
    );
  }

  #loaded(state: QueueState): void {
    const sinceRead = this.#sinceRead;
    this.#read = 'done';
    if (this.#isEnded) return;
    if (this.#revision < 0) return this.#begin(state);
    // A follower may have brought a newer state meanwhile.
    if (state.revision >= this.#readAt) {
      this.#take(state);
      // It is of one moment, and tells whose turn it was then, whatever came later.
      this.#tell(this.#followers);
      const later = sinceRead.filter(({ kv }) => kv.modified > state.revision);
      if (later.length > 0) this.#changed(later);
    }
    if (this.#needsRead) this.#load();
  }

  #changed(events: readonly WatchEvent[]): void {
    if (this.#queue.number !== undefined) return this.#permitsChanged(events);
    if (this.#read === 'under way') this.#sinceRead.push(...events);
    for (const { isDeleted, kv } of events) {
      // The read has seen this change.
      if (kv.modified <= this.#readAt) continue;
      this.#revision = kv.modified;
      if (!isEntryOf(this.#queue, kv.key)) continue;
      if (isDeleted) this.#entries.delete(kv.key);
      else this.#put(entryOf(kv, this.#queue.hasBareValues));
    }
    if (!this.#isIncomplete) this.#tell(this.#followers);
  }

  /** The number may have changed before, and be told later: changes tell nobody's turn. */
  #permitsChanged(events: readonly WatchEvent[]): void {
    for (const event of events) {
      this.#changedAt = Math.max(this.#changedAt, event.kv.modified);
      for (const follower of this.#followers) tellOwn(follower, event);
    }
    if (this.#needsRead) this.#load();
  }

  /** An entry that is written again keeps its place. A name that is used again is last, also if its deletion was missed. */
  #put(entry: Entry): void {
    const { key, created } = entry;
    if (this.#entries.get(key)?.created !== created) this.#entries.delete(key);
    this.#entries.set(key, entry);
  }

  #tell(followers: Iterable<ViewFollower>): void {
    const entries = this.#entries;
    const turns = turnsOf(entries.values(), this.#number);
    const isWanted = turns < entries.size;
    const first = new Set<string>();
    for (const key of entries.keys()) {
      if (first.size === turns) break;
      first.add(key);
    }
    let isBehind = false;
    for (const follower of followers) {
      // A copy that is older than the entry does not have it yet.
      if (this.#revision < follower.created) continue;
      const entry = entries.get(follower.entryKey);
      // The copy has missed the end of the entry that had the name before, and the creation of this one.
      if (entry && entry.created < follower.created) isBehind = true;
      else if (entry?.created !== follower.created) follower.placed(undefined);
      else follower.placed({ entry, isTurn: first.has(entry.key), isWanted });
    }
    if (isBehind) this.#load();
  }

  /** Old servers can forget an event: the queue is read now and then. */
  #lookLater(): void {
    this.#cancelLook();
    const look = () => {
      // A copy that is not used now may be used again.
      if (!this.isUnused || this.#read === 'failed') this.#load();
      this.#lookLater();
    };
    this.#cancelLook = after(this.#read === 'failed' ? RETRY_MS : this.#lookEveryMs, look, 'unref');
  }
}

/** Tells a follower of a change of its own entry: that it is gone, or that its holder is asked to release. */
function tellOwn(follower: ViewFollower, { isDeleted, kv }: WatchEvent): void {
  if (kv.key !== follower.entryKey) return;
  if (isDeleted && kv.modified > follower.created) follower.placed(undefined);
  else if (kv.created === follower.created && !follower.isWaiting)
    follower.placed({ entry: entryOf(kv), isTurn: true, isWanted: undefined });
}
