import { NEVER } from '../async/abort.js';
import { nameOf } from '../contract/keyed-request.js';
import type { KeyedRequest } from '../contract/keyed-request.js';
import { explained } from './explained-error.js';
import { PlaceLostError } from './recipes/place-lost-error.js';
import type { Session } from './session/session.js';
import { SessionEndedError } from './session/session-ended-error.js';
import type { SessionSupervisor } from './session/session-supervisor.js';

/** What is asked needs of the sessions. */
export interface AskedSessions<S> {
  session(signal: AbortSignal, key: string): Promise<S>;
  inTime<T>(work: (signal: AbortSignal) => Promise<T>, given: AbortSignal, key: string): Promise<T>;
}

/** Asks one session after the other: what was asked of one that ends, or loses its place, is asked once more. */
export async function acrossSessions<S, T>(
  sessions: Pick<AskedSessions<S>, 'session'>,
  key: string,
  signal: AbortSignal,
  ask: (session: S) => Promise<T>,
): Promise<T> {
  for (;;) {
    const session = await sessions.session(signal, key);
    try {
      return await ask(session);
    } catch (error) {
      const isOver = error instanceof SessionEndedError || error instanceof PlaceLostError;
      if (!isOver) throw explained(error, key);
    }
  }
}

/**
 * Asks as long as servers may take to answer.
 * @param key what it is about, for messages
 * @throws `given.reason`, LockUnavailableError, LockConfigurationError
 */
export function askSessions<S, T>(
  sessions: AskedSessions<S>,
  key: string,
  ask: (session: S, signal: AbortSignal) => Promise<T>,
  given: AbortSignal = NEVER,
): Promise<T> {
  const asking = (signal: AbortSignal) => acrossSessions(sessions, key, signal, (session) => ask(session, signal));
  return sessions.inTime(asking, given, key);
}

/** What somebody asks, and how long it may take. */
export interface Call extends KeyedRequest {
  /** Whether it may take as long as the signal lets it; otherwise only as long as servers may take to answer. */
  readonly wait: boolean;
  readonly signal: AbortSignal;
}

/** Calls that go on with the next session when theirs ends. */
export class SessionCalls {
  readonly #sessions: SessionSupervisor;

  constructor(sessions: SessionSupervisor) {
    this.#sessions = sessions;
  }

  make<T>(asked: Call, ask: (session: Session, signal: AbortSignal) => Promise<T>): Promise<T> {
    const { wait, signal } = asked;
    const name = nameOf(asked);
    const call = (limit: AbortSignal) => acrossSessions(this.#sessions, name, limit, (session) => ask(session, limit));
    return wait ? call(signal) : this.#sessions.inTime(call, signal, name);
  }
}
