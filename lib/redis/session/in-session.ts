import { askInSession, SessionEndedError } from '../../sessions/backend-sessions.js';
import type { BackendSessions, Call, Failures } from '../../sessions/backend-sessions.js';
import { explained, isMoving } from '../client/redis-error.js';
import type { RedisSession } from './redis-session.js';

const FAILURES: Failures = {
  canBeginAgain: (error) => error instanceof SessionEndedError,
  isPassing: isMoving,
  explained,
};

/**
 * Makes a request on one session after the other. It begins again when its session ends, and while a cluster moves the
 * keys to another node.
 * @throws `call.signal.reason`, LockUnavailableError, LockConfigurationError
 */
export function inSession<T>(
  sessions: BackendSessions<RedisSession>,
  call: Call,
  ask: (session: RedisSession, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return askInSession(sessions, call, ask, FAILURES);
}
