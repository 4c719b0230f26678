import { anyAbort, orAbort } from '../../async/abort.js';
import { settledWithin } from '../../async/timer.js';
import type { GrantedLease } from '../../contract/granted-lease.js';
import type { LockRequest } from '../../contract/lock-request.js';
import type { Session } from '../session/session.js';
import type { Contender } from './contender.js';
import type { LockDirectory } from './lock-directory.js';
import type { Entry } from './protected-create.js';
import { grantLease } from './zookeeper-lease.js';

// How long one who gives up waits to see its znode gone. Then its promise rejects, and the deletion goes on by itself.
const LEAVING_MS = 100;

/** When a recipe's contender may hold. */
export interface Turn {
  /** Whether it may already, as far as is known without waiting for anything. */
  isNow(entry: Entry): boolean;
  /** Resolves to whether it is its turn. Rejects with `signal.reason`, leaving no watch. */
  comes(entry: Entry, signal: AbortSignal): Promise<boolean>;
}

/**
 * What every lock recipe does once it has sent its contender in: wait for the turn, then hold; or leave, whatever else
 * happens. `null` when it is not its turn and the request does not wait.
 */
export async function acquireEntered(
  session: Session,
  directory: LockDirectory,
  request: LockRequest,
  entering: Promise<Entry>,
  turn: Turn,
): Promise<GrantedLease | null> {
  let contender: Contender | undefined;
  try {
    const entry = await orAbort(entering, request.signal);
    contender = entry.contender;
    if (!turn.isNow(entry) || !session.isProven || contender.isGone) {
      const isTurn = await untilTurn(session, entry, request.signal, turn);
      if (!isTurn) return await contender.leave(directory.releaseTimeoutMs).then(() => null);
    }
    request.signal.throwIfAborted();
    return grantLease(session, directory, contender, request);
  } catch (error) {
    // Whoever gives up while it enters leaves again as soon as it is in.
    const left = contender?.leave(LEAVING_MS) ?? entering.then((entry) => entry.contender.leave(LEAVING_MS));
    await settledWithin(left, LEAVING_MS);
    throw error;
  }
}

async function untilTurn(session: Session, entry: Entry, signal: AbortSignal, turn: Turn): Promise<boolean> {
  const limits = anyAbort([signal, session.signal, entry.contender.gone]);
  try {
    if (!(await turn.comes(entry, limits.signal))) return false;
    // A grant that lay in a buffer while this process stood still is not reported: the session must be proven now.
    await session.proven(limits.signal);
    limits.signal.throwIfAborted();
    return true;
  } finally {
    limits.dispose();
  }
}
