import { settledWithin } from '../../async/timer.js';
import type { GrantedLease } from '../../contract/granted-lease.js';
import { LEAVING_MS } from '../recipes/wait-for-turn.js';
import { CounterEndingError, restartCounter } from '../recipes/counter.js';
import type { LockDirectory } from '../recipes/lock-directory.js';
import { acquireMutex } from '../recipes/mutex.js';
import { NodeDeletedError } from '../recipes/held-nodes.js';
import type { Session } from '../session/session.js';

/** A request to run one step alone, and how long it may wait. */
export interface TurnRequest {
  readonly key: string;
  readonly wait: boolean;
  readonly signal: AbortSignal;
  readonly label?: string | undefined;
}

/**
 * Runs one step under a mutex on one session. Returns `null` when others are ahead and the request does not wait.
 * @throws KeeperError, SessionEndedError, `signal.reason`, what the step throws
 */
export async function inTurn<T>(
  session: Session,
  directory: LockDirectory,
  request: TurnRequest,
  step: () => Promise<T>,
): Promise<T | null> {
  const turn = await takeTurn(session, directory, request);
  if (!turn) return null;
  try {
    return await step();
  } finally {
    // An aborted request does not wait for unreachable servers: the release continues in the background.
    const isPatient = !request.signal.aborted;
    await (isPatient ? turn.release() : settledWithin(turn.release(), LEAVING_MS));
  }
}

async function takeTurn(
  session: Session,
  directory: LockDirectory,
  request: TurnRequest,
): Promise<GrantedLease | null> {
  for (;;) {
    try {
      return await acquireMutex(session, directory, { ...request, mode: 'exclusive', line: 'fifo' });
    } catch (error) {
      if (error instanceof NodeDeletedError) continue;
      if (!(error instanceof CounterEndingError)) throw error;
      if (!(await restartCounter(session, error, request.wait, request.signal))) return null;
    }
  }
}
