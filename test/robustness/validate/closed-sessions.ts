import type { Fault, Hold } from '../model/history.js';

/** The fault that closes a session from elsewhere, with its id and password. */
export const SESSION_CLOSED = 'session closed';

/**
 * Whether the hold's session was closed on purpose while the holder believed in it. The znode is gone at once then,
 * with no lease having run out: the holder hears of it with its next answer, and nothing on its side can be earlier.
 */
export function wasClosedOnPurpose(hold: Hold, faults: readonly Fault[]): boolean {
  return faults.some(
    ({ name, target, from, until }) =>
      name === SESSION_CLOSED && target === hold.process && hold.from <= until && hold.seenUntil >= from,
  );
}
