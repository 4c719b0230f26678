import { anyAbort, orAbort } from '../../async/abort.js';
import { settledWithin } from '../../async/timer.js';
import type { GrantedLease } from '../../contract/granted-lease.js';
import type { LockRequest } from '../../contract/lock-request.js';
import type { Session } from '../session/session.js';
import type { LockDirectory } from './lock-directory.js';
import type { Entry } from './protected-create.js';
import { grantLease } from './zookeeper-lease.js';

// How long one who gives up waits to see its znode gone. Then its promise rejects, and the deletion goes on by itself.
const LEAVING_MS = 100;

/**
 * What every lock recipe does once it has sent its contender in: wait for the turn, then hold; or leave, whatever else
 * happens. `null` when `isMyTurn` says that it is not.
 */
export async function acquireEntered(
  session: Session,
  directory: LockDirectory,
  request: LockRequest,
  entering: Promise<Entry>,
  isMyTurn: (entry: Entry, signal: AbortSignal) => Promise<boolean>,
): Promise<GrantedLease | null> {
  const entry = await entered(entering, request.signal);
  const { contender } = entry;
  const limits = anyAbort([request.signal, session.signal, contender.gone]);
  try {
    if (!(await isMyTurn(entry, limits.signal))) {
      await contender.leave(directory.releaseTimeoutMs);
      return null;
    }
    // A grant that lay in a buffer while this process stood still is not reported: the session must be proven now.
    await session.proven(limits.signal);
    limits.signal.throwIfAborted();
    return grantLease(session, directory, contender, request);
  } catch (error) {
    await contender.leave(LEAVING_MS);
    throw error;
  } finally {
    limits.dispose();
  }
}

/** The entry, or a rejection with `signal.reason` while whoever enters nevertheless leaves again. */
async function entered(entering: Promise<Entry>, signal: AbortSignal): Promise<Entry> {
  return orAbort(entering, signal).catch(async (error: unknown) => {
    const left = entering.then(({ contender }) => contender.leave(LEAVING_MS));
    await settledWithin(left, LEAVING_MS);
    throw error;
  });
}
