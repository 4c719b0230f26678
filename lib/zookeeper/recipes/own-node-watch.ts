import type { Dispose } from '../../async/abort.js';
import { after } from '../../async/timer.js';
import { isKeeperError } from '../session/requests.js';
import type { Session } from '../session/session.js';
import type { Contender } from './contender.js';

// Most leases are given back sooner; for them it would be a request and an event for nothing.
const SHORT_HOLD_MS = 100;

/**
 * Watches the znode of a lease that is held for more than a moment, so that its deletion from outside is known at once
 * and not with the next heartbeat. Disposing stops it; the watch goes with the znode.
 */
export function watchOwnNodeSoon(session: Session, contender: Contender): Dispose {
  // What is at a path that others use as well tells nothing; the heartbeat compares the znode itself.
  if (contender.sharesItsName) return () => {};
  let isOver = false;
  const cancel = after(SHORT_HOLD_MS, () => {
    untilGone(session, contender, () => isOver).catch((error: unknown) => {
      if (!isOver && isKeeperError(error, 'noNode')) contender.foundGone();
    });
  });
  return () => {
    isOver = true;
    cancel();
  };
}

/** Rejects with `noNode` when the znode is gone; resolves when that is of no interest any more. */
async function untilGone(session: Session, { path }: Contender, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const watch = await session.persistently(() => session.requests.watch(path));
    if (isOver()) return watch.remove();
    await watch.fired;
  }
}
