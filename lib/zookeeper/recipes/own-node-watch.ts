import type { Dispose } from '../../async/abort.js';
import { now } from '../../async/clock.js';
import { LinkedList } from '../../async/collections.js';
import { deferred } from '../../async/deferred.js';
import { after } from '../../async/timer.js';
import { isKeeperError } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { isRevoked } from './contender-data.js';
import type { Contender } from './contender.js';

// Most leases are released sooner. For them the watch would be a useless request and a useless event.
const SHORT_HOLD_MS = 100;

const watchesByContender = new WeakMap<Contender, OwnNodeWatch>();
const queuesBySession = new WeakMap<Session, YoungLeases>();

/** The watch on a contender's own znode. */
export class OwnNodeWatch {
  #set = deferred();
  #isSet = false;

  /**
   * Whether the watch is set and has not fired, or the contender is known to be gone. It is `false` from the event on
   * until it is known what the event means.
   */
  get isSet(): boolean {
    return this.#isSet;
  }

  /** Resolves when `isSet` becomes true. Never rejects. */
  get set(): Promise<void> {
    return this.#set.promise;
  }

  known(): void {
    this.#isSet = true;
    this.#set.resolve();
  }

  fired(): void {
    this.#isSet = false;
    this.#set = deferred();
  }
}

/**
 * Watches a contender's own znode. Two things are then known at once, and on one connection before anything that
 * happened later:
 * - its deletion by another client;
 * - a revocation that is written to it.
 */
export function watchOwnNode(session: Session, contender: Contender): OwnNodeWatch {
  const known = watchesByContender.get(contender);
  if (known) return known;
  const watch = new OwnNodeWatch();
  watchesByContender.set(contender, watch);
  void untilGone(session, contender, watch).finally(() => watch.known());
  return watch;
}

/** Watches the znode of a lease once it is held for more than a moment, unless disposed before. */
export function watchOwnNodeSoon(session: Session, contender: Contender): Dispose {
  const young = queuesBySession.get(session) ?? new YoungLeases(session);
  queuesBySession.set(session, young);
  return young.add(contender);
}

async function untilGone(session: Session, contender: Contender, own: OwnNodeWatch): Promise<void> {
  while (!contender.isLeaving) {
    const { path } = contender;
    const isDeleted = await deletionOf(session, contender, path, own);
    if (isDeleted === undefined) return;
    if (!isDeleted || !(await contender.isStillAt(path))) continue;
    if (!contender.isLeaving) contender.foundGone();
    return;
  }
}

/** Whether the event of the znode is its deletion. `undefined` when that cannot be known any more. */
async function deletionOf(
  session: Session,
  contender: Contender,
  path: string,
  own: OwnNodeWatch,
): Promise<boolean | undefined> {
  try {
    const { data, stat, watch } = await session.persistently(() => session.requests.watchData(path));
    if (contender.sharesItsName && stat.czxid !== contender.czxid) {
      watch.remove();
      return true;
    }
    if (isRevoked(data)) contender.foundRevoked();
    own.known();
    const event = await watch.fired;
    own.fired();
    return event === 'deleted';
  } catch (error) {
    return isKeeperError(error, 'noNode') || undefined;
  }
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
      watchOwnNode(this.#session, lease.contender);
    }
  }
}
