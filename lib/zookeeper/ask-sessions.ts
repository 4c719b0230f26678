import { explained } from './explained-error.js';
import { SessionEndedError } from './session/session-ended-error.js';

/** Where the current session is to be had, or the next one. */
interface Sessions<S> {
  session(signal: AbortSignal): Promise<S>;
}

/**
 * What is asked of a session that ends is asked of the next one.
 * @param key what an error of the servers is about
 * @throws what the caller can do something about, `signal.reason`
 */
export async function askSessions<S, T>(
  sessions: Sessions<S>,
  key: string,
  signal: AbortSignal,
  ask: (session: S, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  for (;;) {
    const session = await sessions.session(signal);
    try {
      return await ask(session, signal);
    } catch (error) {
      if (!(error instanceof SessionEndedError)) throw explained(error, key);
    }
  }
}
