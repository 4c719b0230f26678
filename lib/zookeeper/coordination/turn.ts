import type { GrantedLease } from '../../contract/granted-lease.js';
import { CounterEndingError, restartCounter } from '../recipes/counter.js';
import type { LockDirectory } from '../recipes/lock-directory.js';
import { acquireMutex } from '../recipes/mutex.js';
import { PlaceLostError } from '../recipes/place-lost-error.js';
import type { Session } from '../session/session.js';

/** Who wants to be the only one, and for how long. */
export interface TurnRequest {
  readonly key: string;
  readonly wait: boolean;
  readonly signal: AbortSignal;
  readonly label?: string | undefined;
}

/** A mutex for the time of one step, on one session. `null` when somebody is ahead and the request does not wait. */
export async function takeTurn(
  session: Session,
  directory: LockDirectory,
  request: TurnRequest,
): Promise<GrantedLease | null> {
  for (;;) {
    try {
      return await acquireMutex(session, directory, { ...request, mode: 'exclusive', line: 'fifo' });
    } catch (error) {
      const isEnding = error instanceof CounterEndingError;
      if (!isEnding && !(error instanceof PlaceLostError)) throw error;
      if (isEnding && !(await restartCounter(session, directory.path, request.wait, request.signal))) return null;
    }
  }
}
