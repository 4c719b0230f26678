import type { LockRequest } from '../contract/lock-request.js';
import { PlaceLostError } from './recipes/place-lost-error.js';
import type { Session } from './session/session.js';
import { SessionEndedError } from './session/session-ended-error.js';

/** One attempt to get what a request asks for, on one session. */
export type Attempt<R extends LockRequest, T> = (session: Session, request: R) => Promise<T | null>;

/** Whether the next attempt may succeed where this one could not. */
export function canBeginAgain(error: unknown): boolean {
  return error instanceof SessionEndedError || error instanceof PlaceLostError;
}
