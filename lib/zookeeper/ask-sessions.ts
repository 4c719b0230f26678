import { explained } from './explained-error.js';
import { SessionEndedError } from './session/session-ended-error.js';

/** What is asked needs of the sessions. */
export interface AskedSessions<S> {
  session(signal: AbortSignal): Promise<S>;
  inTime<T>(work: (signal: AbortSignal) => Promise<T>, given?: AbortSignal): Promise<T>;
}

/**
 * Asks the session; when it ends meanwhile, the next one.
 * @param key what it is about, for messages
 * @throws `given.reason`, LockUnavailableError, LockConfigurationError
 */
export function askSessions<S, T>(
  sessions: AskedSessions<S>,
  key: string,
  ask: (session: S, signal: AbortSignal) => Promise<T>,
  given?: AbortSignal,
): Promise<T> {
  return sessions.inTime(async (signal) => {
    for (;;) {
      const session = await sessions.session(signal);
      try {
        return await ask(session, signal);
      } catch (error) {
        if (!(error instanceof SessionEndedError)) throw explained(error, key);
      }
    }
  }, given);
}
