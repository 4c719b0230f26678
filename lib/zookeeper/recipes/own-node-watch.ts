import type { Dispose } from '../../async/abort.js';
import { now } from '../../async/clock.js';
import { LinkedList } from '../../async/collections.js';
import { deferred } from '../../async/deferred.js';
import type { Deferred } from '../../async/deferred.js';
import { after } from '../../async/timer.js';
import { isKeeperError } from '../session/requests.js';
import type { Watch } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { isRevoked } from './contender-data.js';
import type { Contender } from './contender.js';

// Most leases are released sooner. For them the watch would be a useless request and a useless event.
const SHORT_HOLD_MS = 100;

const watchesByContender = new WeakMap<Contender, OwnNodeWatch>();
const queuesBySession = new WeakMap<Session, YoungLeases>();
/** Contenders to whose znodes this process has written. */
const writtenHere = new WeakSet<Contender>();

/** The watch on a contender's own znode. */
export class OwnNodeWatch {
  #isSet = false;
  #awaited: Deferred<void> | undefined;

  /**
   * Whether the watch is set and has not fired, or the contender is known to be gone. It is `false` from the event on
   * until it is known what the event means.
   */
  get isSet(): boolean {
    return this.#isSet;
  }

  /** Resolves when `isSet` becomes true. Never rejects. */
  get set(): Promise<void> {
    return this.#isSet ? Promise.resolve() : (this.#awaited ??= deferred()).promise;
  }

  known(): void {
    this.#isSet = true;
    this.#awaited?.resolve();
    this.#awaited = undefined;
  }

  fired(): void {
    this.#isSet = false;
  }
}

/**
 * Watches a contender's own znode. Two things are then known at once, and on one connection before anything that
 * happened later:
 * - its deletion by another client;
 * - a revocation that is written to it.
 * @param mayHaveChanged the data is read at once. Otherwise it is read after a change, which takes one more round trip
 */
export function watchOwnNode(session: Session, contender: Contender, mayHaveChanged = false): OwnNodeWatch {
  const known = watchesByContender.get(contender);
  if (known) return known;
  const watch = new OwnNodeWatch();
  watchesByContender.set(contender, watch);
  const unread = mayHaveChanged ? contender.path : undefined;
  void untilGone(session, contender, watch, unread).finally(() => watch.known());
  return watch;
}

/** Watches the znode of a lease once it is held for more than a moment, unless disposed before. */
export function watchOwnNodeSoon(session: Session, contender: Contender): Dispose {
  const young = queuesBySession.get(session) ?? new YoungLeases(session);
  queuesBySession.set(session, young);
  return young.add(contender);
}

/** Called before this process writes to the contender's znode: a change is no revocation then until it is read. */
export function willWrite(contender: Contender): void {
  writtenHere.add(contender);
}

/** @param unread the path whose data may have changed and has to be read */
async function untilGone(
  session: Session,
  contender: Contender,
  own: OwnNodeWatch,
  unread: string | undefined,
): Promise<void> {
  let changed: string | undefined;
  while (!contender.isLeaving) {
    const { path } = contender;
    const event = await eventOf(session, contender, own, unread === path);
    // The event of a contender that leaves is that of its own deletion.
    if (event === undefined || contender.isLeaving) return;
    if (event !== 'deleted' && event !== 'missing') {
      unread = path;
      changed = event === 'changed' ? path : undefined;
      continue;
    }
    if (!(await contender.isStillAt(path))) continue;
    if (contender.isLeaving) return;
    // Only a revocation writes to the znode of another client. It was deleted by force before it could be read.
    if (event === 'missing' && changed === path && !writtenHere.has(contender)) contender.foundRevoked();
    return contender.foundGone();
  }
}

/** An event of the znode. `missing`: it was gone when it was to be read. */
type NodeEvent = Awaited<Watch['fired']> | 'missing';

/** The next event of the znode. `undefined` when it cannot be known any more. */
async function eventOf(
  session: Session,
  contender: Contender,
  own: OwnNodeWatch,
  isUnread: boolean,
): Promise<NodeEvent | undefined> {
  try {
    const isAsCreated = !isUnread && !contender.sharesItsName;
    const watch = await session.persistently(() =>
      isAsCreated ? session.requests.watch(contender.path, contender.czxid) : look(session, contender),
    );
    if (!watch) return 'missing';
    own.known();
    const event = await watch.fired;
    own.fired();
    return event;
  } catch (error) {
    return isKeeperError(error, 'noNode') ? 'missing' : undefined;
  }
}

/** Reads the data for a revocation. `undefined` when another client's znode is at the path. */
async function look({ requests }: Session, contender: Contender): Promise<Watch | undefined> {
  const { data, stat, watch } = await requests.watchData(contender.path);
  if (stat.czxid !== contender.czxid && contender.sharesItsName) {
    watch.remove();
    return undefined;
  }
  if (isRevoked(data)) contender.foundRevoked();
  return watch;
}

interface YoungLease {
  readonly contender: Contender;
  readonly since: number;
}

/** The leases of one session that are not watched yet. They share one timer. */
class YoungLeases {
  readonly #session: Session;
  readonly #leases = new LinkedList<YoungLease>();
  #isTimed = false;

  constructor(session: Session) {
    this.#session = session;
  }

  add(contender: Contender): Dispose {
    const place = this.#leases.join({ contender, since: now() });
    this.#time(SHORT_HOLD_MS);
    return () => void place.leave();
  }

  #time(ms: number): void {
    if (this.#isTimed) return;
    this.#isTimed = true;
    after(ms, () => {
      this.#isTimed = false;
      this.#watchOld();
    });
  }

  #watchOld(): void {
    for (let lease = this.#leases.first; lease; lease = this.#leases.first) {
      const leftMs = lease.since + SHORT_HOLD_MS - now();
      if (leftMs > 0) return this.#time(leftMs);
      this.#leases.shift();
      watchOwnNode(this.#session, lease.contender, true);
    }
  }
}
