import type { LockRequest } from '../contract/lock-request.js';
import { CounterEndingError, restartCounter } from './recipes/counter.js';
import { PlaceLostError } from './recipes/place-lost-error.js';
import type { Session } from './session/session.js';
import { SessionEndedError } from './session/session-ended-error.js';

/** One attempt to get what a request asks for, on one session. */
export type Attempt<R extends LockRequest, T> = (session: Session, request: R) => Promise<T | null>;

/** Whether the caller can line up once more: `undefined` when the error is theirs to know, `false` when not this time. */
export async function canBeginAgain(
  error: unknown,
  session: Session,
  { wait, signal }: LockRequest,
): Promise<boolean | undefined> {
  if (error instanceof SessionEndedError || error instanceof PlaceLostError) return true;
  if (error instanceof CounterEndingError) {
    return restartCounter(session, error.directory, wait, signal).catch(unlessEnded);
  }
  return undefined;
}

function unlessEnded(error: unknown): boolean {
  if (error instanceof SessionEndedError) return true;
  throw error;
}
