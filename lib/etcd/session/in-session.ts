import { NEVER } from '../../async/abort.js';
import { nameOf } from '../../contract/lock-request.js';
import type { KeyedRequest } from '../../contract/lock-request.js';
import { explained } from '../client/etcd-error.js';
import type { EtcdSession } from './etcd-session.js';
import type { EtcdSessions } from './etcd-sessions.js';
import { SessionEndedError } from './etcd-session.js';

/** A request for a key, and how long it may take. */
export interface Call extends KeyedRequest {
  /** Whether it may take until the signal aborts. Otherwise it may take only as long as a server may take to answer. */
  readonly wait: boolean;
  readonly signal?: AbortSignal;
}

/**
 * Makes a request on one session after the other. It begins again when its session ends.
 * @throws `call.signal.reason`, LockUnavailableError, LockConfigurationError
 */
export function inSession<T>(
  sessions: EtcdSessions,
  call: Call,
  ask: (session: EtcdSession, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { wait, signal = NEVER } = call;
  const name = nameOf(call);
  const attempts = async (limit: AbortSignal): Promise<T> => {
    for (;;) {
      limit.throwIfAborted();
      const session = sessions.connected ?? (await sessions.session(limit, name));
      try {
        return await ask(session, limit);
      } catch (error) {
        if (!(error instanceof SessionEndedError)) throw explained(error, name);
      }
    }
  };
  return wait ? attempts(signal) : sessions.inTime(attempts, signal, name);
}
