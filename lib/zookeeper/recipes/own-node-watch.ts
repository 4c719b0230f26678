import type { Dispose } from '../../async/abort.js';
import { now } from '../../async/clock.js';
import { after } from '../../async/timer.js';
import { isKeeperError } from '../session/requests.js';
import type { Session } from '../session/session.js';
import type { Contender } from './contender.js';

// Most leases are given back sooner; for them it would be a request and an event for nothing.
const SHORT_HOLD_MS = 100;

const queuesBySession = new WeakMap<Session, YoungLeases>();

/**
 * Watches the znode of a lease that is held for more than a moment, so that its deletion from outside is known at once
 * and not with the next heartbeat. Disposing stops it; the watch goes with the znode.
 */
export function watchOwnNodeSoon(session: Session, contender: Contender): Dispose {
  // What is at a path that others use as well tells nothing; the heartbeat compares the znode itself.
  if (contender.sharesItsName) return () => {};
  const young = queuesBySession.get(session) ?? new YoungLeases(session);
  queuesBySession.set(session, young);
  return young.add(contender);
}

interface YoungLease {
  readonly contender: Contender;
  readonly since: number;
  isOver: boolean;
}

/** The leases of one session that are not watched yet: one timer for all of them. */
class YoungLeases {
  readonly #session: Session;
  readonly #leases = new Set<YoungLease>();
  #isTimed = false;

  constructor(session: Session) {
    this.#session = session;
  }

  add(contender: Contender): Dispose {
    const lease: YoungLease = { contender, since: now(), isOver: false };
    this.#leases.add(lease);
    this.#time(SHORT_HOLD_MS);
    return () => {
      lease.isOver = true;
      this.#leases.delete(lease);
    };
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
    for (const lease of this.#leases) {
      const leftMs = lease.since + SHORT_HOLD_MS - now();
      if (leftMs > 0) return this.#time(leftMs);
      this.#leases.delete(lease);
      void this.#watch(lease);
    }
  }

  async #watch(lease: YoungLease): Promise<void> {
    const { contender } = lease;
    const { requests } = this.#session;
    try {
      while (!lease.isOver) {
        const watch = await this.#session.persistently(() => requests.watch(contender.path));
        if (lease.isOver) return watch.remove();
        await watch.fired;
      }
    } catch (error) {
      if (!lease.isOver && isKeeperError(error, 'noNode')) contender.foundGone();
    }
  }
}
