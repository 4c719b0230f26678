import { NEVER } from '../../async/abort.js';
import { backoff, pause } from '../../async/timer.js';
import type { Backoff } from '../../async/timer.js';
import { nameOf } from '../../contract/lock-request.js';
import type { KeyedRequest } from '../../contract/lock-request.js';
import { explained, isMoving } from '../client/redis-error.js';
import { SessionEndedError } from './redis-session.js';
import type { RedisSession } from './redis-session.js';
import type { RedisSessions } from './redis-sessions.js';

const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 500;

/** A request for a key, and how long it may take. */
export interface Call extends KeyedRequest {
  /** Whether it may take until the signal aborts. Otherwise it may take only as long as a server may take to answer. */
  readonly wait: boolean;
  readonly signal?: AbortSignal;
}

/**
 * Makes a request on one session after the other. It begins again when its session ends, and while a cluster moves the
 * keys to another node.
 * @throws `call.signal.reason`, LockUnavailableError, LockConfigurationError
 */
export function inSession<T>(
  sessions: RedisSessions,
  call: Call,
  ask: (session: RedisSession, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { wait, signal = NEVER } = call;
  const name = nameOf(call);
  const attempts = async (limit: AbortSignal): Promise<T> => {
    let pauses: Backoff | undefined;
    for (;;) {
      limit.throwIfAborted();
      const session = sessions.connected ?? (await sessions.session(limit, name));
      try {
        return await ask(session, limit);
      } catch (error) {
        pauses ??= backoff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
        if (isMoving(error)) await pause(pauses.next(), limit);
        else if (!(error instanceof SessionEndedError)) throw explained(error, name);
      }
    }
  };
  return wait ? attempts(signal) : sessions.inTime(attempts, signal, name);
}
