import { NEVER } from '../async/abort.js';
import { backoff, pause } from '../async/timer.js';
import type { Backoff } from '../async/timer.js';
import { nameOf } from '../contract/lock-request.js';
import type { KeyedRequest } from '../contract/lock-request.js';

const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 500;

/** The error of a request or a wait whose session is over. It has no effect any more, and may begin again on the next. */
export class SessionEndedError extends Error {
  constructor(readonly why: string) {
    super(`the session is over: ${why}`);
    this.name = 'SessionEndedError';
  }
}

/** The part of `BackendSessions` that requests need. */
export interface ServingSessions<S> {
  /** The session, while a server is connected. */
  readonly connected?: S | undefined;
  session(signal: AbortSignal, key: string): Promise<S>;
  inTime<T>(work: (signal: AbortSignal) => Promise<T>, given: AbortSignal, key: string, workMs?: number): Promise<T>;
}

/** A request for a key, and how long it may take. */
export interface Call extends KeyedRequest {
  /** Whether it may take until the signal aborts. Otherwise it may take only as long as servers may take to answer. */
  readonly wait: boolean;
  readonly signal?: AbortSignal;
  /** The time that the work itself may take in addition, in milliseconds. Default 0 */
  readonly workMs?: number;
}

/** A backend's treatment of the errors of an attempt. */
export interface Failures {
  /** Whether the request is made again at once, on the same session or the next one. */
  canBeginAgain(error: unknown): boolean;
  /** Whether the request is made again after a pause. Default: never */
  isPassing?(error: unknown): boolean;
  /** Returns the error for the caller. */
  explained(error: unknown, key: string): unknown;
}

/**
 * Makes a request on one session after the other.
 * @throws `call.signal.reason`, LockUnavailableError, LockConfigurationError
 */
export async function askInSession<S, T>(
  sessions: ServingSessions<S>,
  call: Call,
  ask: (session: S, signal: AbortSignal) => Promise<T>,
  failures: Failures,
): Promise<T> {
  const { wait, signal = NEVER } = call;
  const name = nameOf(call);
  if (!wait) {
    const inLimit = (limit: AbortSignal) =>
      askInSession(sessions, { ...call, wait: true, signal: limit }, ask, failures);
    return sessions.inTime(inLimit, signal, name, call.workMs);
  }
  let pauses: Backoff | undefined;
  for (;;) {
    const session = sessions.connected ?? (await sessions.session(signal, name));
    signal.throwIfAborted();
    try {
      return await ask(session, signal);
    } catch (error) {
      if (failures.isPassing?.(error)) {
        pauses ??= backoff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
        await pause(pauses.next(), signal);
      } else if (!failures.canBeginAgain(error)) throw failures.explained(error, name);
    }
  }
}
