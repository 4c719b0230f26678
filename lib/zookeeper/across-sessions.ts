import { explained } from './explained-error.js';
import { PlaceLostError } from './recipes/place-lost-error.js';
import type { Session } from './session/session.js';
import { SessionEndedError } from './session/session-ended-error.js';
import type { SessionSupervisor } from './session/session-supervisor.js';

/** Asks one session after the other: what was asked of one that ends, or loses its place, is asked once more. */
export async function acrossSessions<S, T>(
  sessions: { session(signal: AbortSignal): Promise<S> },
  key: string,
  signal: AbortSignal,
  ask: (session: S) => Promise<T>,
): Promise<T> {
  for (;;) {
    const session = await sessions.session(signal);
    try {
      return await ask(session);
    } catch (error) {
      const isOver = error instanceof SessionEndedError || error instanceof PlaceLostError;
      if (!isOver) throw explained(error, key);
    }
  }
}

/** What somebody asks, and how long it may take. */
export interface Call {
  readonly key: string;
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

  make<T>({ key, wait, signal }: Call, ask: (session: Session, signal: AbortSignal) => Promise<T>): Promise<T> {
    const call = (limit: AbortSignal) => acrossSessions(this.#sessions, key, limit, (session) => ask(session, limit));
    return wait ? call(signal) : this.#sessions.inTime(call, signal);
  }
}
