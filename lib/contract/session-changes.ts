import type { SessionChange, SessionState } from './survey.js';

/** The session and the server that a state is about. */
type About = Partial<Pick<SessionChange, 'sessionId' | 'sessionTimeoutMs' | 'server'>>;

/** Tells one listener each change of a connection's state once. Backends use it for `LockBackend.observe`. */
export class SessionChanges {
  #listener: ((change: SessionChange) => void) | undefined;
  #state: SessionState | undefined;
  #about: About = {};

  observe(listener: (change: SessionChange) => void): void {
    this.#listener = listener;
  }

  /** A server has answered. The next session counts as a change, even if no state was in between. */
  connected(about: About): void {
    const isNext = about.sessionId !== this.#about.sessionId;
    this.#about = about;
    this.#turn('connected', undefined, isNext);
  }

  /** No server is connected. @param why reason, as text */
  suspended(why: string): void {
    this.#turn('suspended', why);
  }

  /** The session is over. @param why reason, as text */
  lost(why: string): void {
    this.#turn('lost', why);
  }

  /** The backend was closed. Nothing is told after that. */
  closed(): void {
    this.#turn('closed', 'the application has closed it');
  }

  #turn(state: SessionState, why: string | undefined, isNext = false): void {
    const before = this.#state;
    if (before === 'closed' || (before === state && !isNext)) return;
    // A connection that never was cannot be interrupted.
    if (before === undefined && state === 'suspended') return;
    this.#state = state;
    const { sessionId, sessionTimeoutMs, server } = this.#about;
    this.#listener?.({ state, before, sessionId, sessionTimeoutMs, server, why });
  }
}
