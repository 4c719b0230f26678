import { LockConfigurationError, LockUnavailableError } from '../contract/errors.js';
import type { LockRequest } from '../contract/lock-request.js';
import { askInSession, SessionEndedError } from '../sessions/backend-sessions.js';
import type { Call, Failures, ServingSessions } from '../sessions/backend-sessions.js';
import { CounterStuckError } from './recipes/counter.js';
import { NodeDeletedError } from './recipes/held-nodes.js';
import { isKeeperError, KeeperError, RequestTooLargeError } from './session/requests.js';
import type { Session } from './session/session.js';

/**
 * Makes a request on one session after the other. It is made again when its session ends, or when its own znode is
 * deleted.
 * @throws `call.signal.reason`, LockUnavailableError, LockConfigurationError
 */
export function inSession<S, T>(
  sessions: ServingSessions<S>,
  call: Call,
  ask: (session: S, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return askInSession(sessions, call, ask, FAILURES);
}

/** Whether the failed attempt can be repeated on the current or the next session. */
export function canBeginAgain(error: unknown): boolean {
  return error instanceof SessionEndedError || error instanceof NodeDeletedError;
}

/**
 * Converts a refusal, by the servers or by this client, into an error that says what the caller should do. Any other
 * error is returned unchanged.
 */
export function explained(error: unknown, key: string): unknown {
  const details = { key, cause: error };
  if (error instanceof RequestTooLargeError) return new LockConfigurationError(`"${key}": ${error.message}`, details);
  if (error instanceof CounterStuckError) return new LockUnavailableError(`"${key}": ${error.message}`, details);
  if (!(error instanceof KeeperError)) return error;
  const isRefused = isKeeperError(error, 'noAuth') || isKeeperError(error, 'invalidAcl');
  const message = `"${key}": ${error.message}`;
  if (isKeeperError(error, 'noChildrenForEphemerals')) {
    const why = 'it lies below an ephemeral znode, which has no children; use another key';
    return new LockConfigurationError(`${message}; ${why}`, details);
  }
  return isRefused
    ? new LockConfigurationError(`${message}; check the auth and acl options of zookeeper()`, details)
    : new LockUnavailableError(message, details);
}

/** One attempt to acquire on one session. */
export type Attempt<R extends LockRequest, T> = (session: Session, request: R) => Promise<T | null>;

const FAILURES: Failures = { canBeginAgain, explained };
