import type { Fault, Hold } from '../model/history.js';

/** The fault that closes a session from elsewhere, with its id and password. */
export const SESSION_CLOSED = 'session closed';

/**
 * Whether the hold's session was closed on purpose while the holder believed in it. The znode is then deleted at once,
 * without an expired lease. The holder is notified with its next reply, and cannot know earlier.
 */
export function wasClosedOnPurpose(hold: Hold, faults: readonly Fault[], since = hold.from): boolean {
  return faults.some(
    ({ name, target, from, until }) =>
      name === SESSION_CLOSED && target === hold.process && since <= until && hold.seenUntil >= from,
  );
}

const HAND_OVER_BITS = 16n;

/**
 * When the holder's process was granted the key. Until it hears of the end of its session, it hands the lease over to its
 * own callers, whose tokens differ in the last bits.
 */
export function grantedSince(hold: Hold, holds: readonly Hold[]): number {
  const contender = hold.token >> HAND_OVER_BITS;
  const handedOver = holds.filter(
    ({ key, process, token }) => key === hold.key && process === hold.process && token >> HAND_OVER_BITS === contender,
  );
  return Math.min(hold.from, ...handedOver.map(({ from }) => from));
}
