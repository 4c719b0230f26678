import { onAbort, orAbort } from '../../async/abort.js';
import { putBack, takeController } from '../../async/spare-controllers.js';
import { settledWithin } from '../../async/timer.js';
import type { GrantedLease } from '../../contract/granted-lease.js';
import type { LockRequest } from '../../contract/lock-request.js';
import type { Session } from '../session/session.js';
import type { HeldNodes } from './held-nodes.js';
import type { LockDirectory } from './lock-directory.js';
import type { Entry } from './protected-create.js';
import { numberOf } from './standing.js';
import { grantLease } from './zookeeper-lease.js';

// How long one who gives up waits to see its znode gone. Then its promise rejects, and the deletion goes on by itself.
export const LEAVING_MS = 100;

/** What has been sent in. */
interface Entered {
  readonly contender: HeldNodes;
}

/** When a recipe's contender may hold. */
export interface Turn<E extends Entered = Entry> {
  /** Whether it may already, as far as is known without waiting for anything. */
  isNow(entry: E): boolean;
  /** Resolves to whether it is its turn. Rejects with `signal.reason`, leaving no watch. */
  comes(entry: E, signal: AbortSignal): Promise<boolean>;
}

/** One contender's way to its turn. */
interface Turning<E extends Entered> extends Pick<LockDirectory, 'releaseTimeoutMs'>, Pick<LockRequest, 'signal'> {
  readonly entering: Promise<E>;
  readonly turn: Turn<E>;
}

/** Waits for the turn, then holds a lease. `null` when it is not its turn and the request does not wait. */
export function acquireEntered(
  session: Session,
  directory: LockDirectory,
  request: LockRequest,
  entering: Promise<Entry>,
  turn: Turn,
): Promise<GrantedLease | null> {
  const { releaseTimeoutMs } = directory;
  const { signal } = request;
  const grant = ({ contender, entrance }: Entry) => {
    const number = numberOf(contender.name);
    if (entrance && number !== undefined) contender.onLeft(() => entrance.left(number));
    return grantLease(session, directory, contender, request);
  };
  return atTurn(session, { entering, turn, releaseTimeoutMs, signal }, grant);
}

/**
 * What every recipe does once it has sent its contender in: wait for the turn, then hold what `hold` makes of it; or
 * leave, whatever else happens. `null` when it is not its turn and it does not wait.
 */
export async function atTurn<E extends Entered, T>(
  session: Session,
  { entering, turn, releaseTimeoutMs, signal }: Turning<E>,
  hold: (entry: E) => T,
): Promise<T | null> {
  let contender: HeldNodes | undefined;
  try {
    const entry = await orAbort(entering, signal);
    contender = entry.contender;
    let isTurn = turn.isNow(entry);
    // In one step with what follows: a lease that is lost before it begins would be lost without anybody being told.
    while (!isTurn || !session.isProven || contender.isGone) {
      isTurn = await untilTurn(session, entry, signal, turn);
      if (!isTurn) return await contender.leave(releaseTimeoutMs).then(() => null);
    }
    signal.throwIfAborted();
    return hold(entry);
  } catch (error) {
    // Whoever gives up while it enters leaves again as soon as it is in.
    const left = contender?.leave(LEAVING_MS) ?? entering.then((entry) => entry.contender.leave(LEAVING_MS));
    await settledWithin(left, LEAVING_MS);
    throw error;
  }
}

async function untilTurn<E extends Entered>(
  session: Session,
  entry: E,
  signal: AbortSignal,
  turn: Turn<E>,
): Promise<boolean> {
  const limit = takeController();
  const end = (reason: unknown) => limit.abort(reason);
  const unlisten = [signal, session.signal].map((source) => onAbort(source, end));
  entry.contender.onGone(end);
  try {
    if (!(await turn.comes(entry, limit.signal))) return false;
    // A grant that lay in a buffer while this process stood still is not reported: the session must be proven now.
    await session.proven(limit.signal);
    limit.signal.throwIfAborted();
  } finally {
    unlisten.forEach((undo) => undo());
    entry.contender.onGone(undefined);
  }
  putBack(limit);
  return true;
}
