import { askInSession, SessionEndedError } from '../../sessions/backend-sessions.js';
import type { BackendSessions, Call, Failures } from '../../sessions/backend-sessions.js';
import { explained } from '../client/etcd-error.js';
import type { EtcdSession } from './etcd-session.js';

const FAILURES: Failures = { canBeginAgain: (error) => error instanceof SessionEndedError, explained };

/**
 * Makes a request on one session after the other. It begins again when its session ends.
 * @throws `call.signal.reason`, LockUnavailableError, LockConfigurationError
 */
export function inSession<T>(
  sessions: BackendSessions<EtcdSession>,
  call: Call,
  ask: (session: EtcdSession, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return askInSession(sessions, call, ask, FAILURES);
}
