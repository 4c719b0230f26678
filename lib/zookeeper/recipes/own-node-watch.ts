import { now } from '../../async/clock.js';
import { LinkedList } from '../../async/collections.js';
import type { Place } from '../../async/collections.js';
import { deferred } from '../../async/deferred.js';
import type { Deferred } from '../../async/deferred.js';
import { after } from '../../async/timer.js';
import { isKeeperError } from '../session/requests.js';
import type { NodeWatch, Watcher, WatchEvent } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { isRevoked } from './contender-znode.js';
import type { Contender } from './contender.js';
import type { OwnWatch } from './held-nodes.js';

// Most leases are released sooner. For them the watch would be a useless request and a useless event.
const SHORT_HOLD_MS = 100;

const youngBySession = new WeakMap<Session, YoungLeases>();
/** Contenders to whose znodes this process has written. */
const writtenHere = new WeakSet<Contender>();

class OwnNodeWatch implements OwnWatch, Watcher {
  readonly #session: Session;
  readonly #contender: Contender;
  isSet = false;
  #awaited: Deferred<void> | undefined;
  /** The path of the znode at the last request. */
  #path = '';
  /** The path whose data may have changed and has to be read. */
  #unread: string | undefined;
  /** The path at which another client has changed the data since the last request, or this process has. */
  #changed: string | undefined;
  /** The event that came while the contender was leaving. */
  #missed: WatchEvent | undefined;

  /** @param unread the path whose data may have changed since the create */
  constructor(session: Session, contender: Contender, unread: string | undefined) {
    this.#session = session;
    this.#contender = contender;
    this.#unread = unread;
    void this.#set();
  }

  get set(): Promise<void> {
    return this.isSet ? Promise.resolve() : (this.#awaited ??= deferred()).promise;
  }

  happened(event: WatchEvent): void {
    // The event of a contender that leaves is that of its own deletion, unless the contender stays after all.
    this.#missed = this.#contender.isLeaving ? event : undefined;
    if (this.#missed) return;
    this.isSet = false;
    if (event === 'deleted') return void this.#deleted();
    this.#unread = this.#path;
    this.#changed = event === 'changed' ? this.#path : undefined;
    void this.#set();
  }

  stays(): void {
    if (this.#missed) this.happened(this.#missed);
  }

  async #set(): Promise<void> {
    if (this.#contender.isLeaving) return this.#notSet();
    const watch = await this.#session.persistently(() => this.#request()).catch(unlessDeleted);
    if (watch === 'deleted') return this.#deleted(this.#changed === this.#path && !writtenHere.has(this.#contender));
    this.#known();
    watch?.listen(this);
  }

  /** Lets a contender go that leaves anyway. If it stays after all, the watch is set anew. */
  #notSet(): void {
    this.#missed ??= 'unknown';
    this.#known();
  }

  #request(): Promise<NodeWatch | 'deleted'> {
    const { path, czxid, sharesItsName } = this.#contender;
    this.#path = path;
    const isAsCreated = this.#unread !== path && !sharesItsName;
    return isAsCreated ? this.#session.requests.watch(path, czxid) : look(this.#session, this.#contender);
  }

  /** @param wasRevoked whether it was changed before: only a revocation writes to the znode of another client */
  async #deleted(wasRevoked = false): Promise<void> {
    const contender = this.#contender;
    if (!(await contender.isStillAt(this.#path))) return this.#set();
    if (contender.isLeaving) return this.#notSet();
    if (wasRevoked) contender.foundRevoked();
    contender.foundGone();
    this.#known();
  }

  #known(): void {
    this.isSet = true;
    this.#awaited?.resolve();
    this.#awaited = undefined;
  }
}

/**
 * Watches a contender's own znode. Two things are then known at once, and on one connection before anything that
 * happened later:
 * - its deletion by another client;
 * - a revocation that is written to it.
 * @param mayHaveChanged the data is read at once. Otherwise it is read after a change, which takes one more round trip
 */
export function watchOwnNode(session: Session, contender: Contender, mayHaveChanged = false): OwnWatch {
  return (contender.watch ??= new OwnNodeWatch(session, contender, mayHaveChanged ? contender.path : undefined));
}

/** Watches the znodes of a lease once it is held for more than a moment, unless it leaves its place before. */
export function watchOwnNodesSoon(session: Session, contenders: readonly Contender[]): Place<YoungLease> {
  const young = youngBySession.get(session) ?? new YoungLeases(session);
  youngBySession.set(session, young);
  const place = young.join({ contenders, since: now() });
  young.watchIn(SHORT_HOLD_MS);
  return place;
}

/** Called before this process writes to the contender's znode: a change is no revocation then until it is read. */
export function willWrite(contender: Contender): void {
  writtenHere.add(contender);
}

/** `undefined` when it cannot be known any more. */
function unlessDeleted(error: unknown): 'deleted' | undefined {
  return isKeeperError(error, 'noNode') ? 'deleted' : undefined;
}

/** Reads the data for a revocation. `deleted` when another client's znode is at the path. */
async function look({ requests }: Session, contender: Contender): Promise<NodeWatch | 'deleted'> {
  const { data, stat, watch } = await requests.watchData(contender.path);
  if (stat.czxid !== contender.czxid && contender.sharesItsName) {
    watch.remove();
    return 'deleted';
  }
  if (isRevoked(data)) contender.foundRevoked();
  return watch;
}

interface YoungLease {
  readonly contenders: readonly Contender[];
  readonly since: number;
}

/** The leases of one session that are not watched yet. They share one timer. */
class YoungLeases extends LinkedList<YoungLease> {
  readonly #session: Session;
  #isTimed = false;

  constructor(session: Session) {
    super();
    this.#session = session;
  }

  /** Watches those that are old enough after this time, unless a timer runs already. */
  watchIn(ms: number): void {
    if (this.#isTimed) return;
    this.#isTimed = true;
    after(ms, () => {
      this.#isTimed = false;
      this.#watchOld();
    });
  }

  #watchOld(): void {
    for (let lease = this.first; lease; lease = this.first) {
      const leftMs = lease.since + SHORT_HOLD_MS - now();
      if (leftMs > 0) return this.watchIn(leftMs);
      this.shift();
      lease.contenders.forEach((contender) => watchOwnNode(this.#session, contender, true));
    }
  }
}
