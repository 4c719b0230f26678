import { NEVER, orAbort } from '../async/abort.js';
import { now } from '../async/clock.js';
import { LinkedList } from '../async/collections.js';
import { deferred } from '../async/deferred.js';
import type { Deferred } from '../async/deferred.js';
import { backoff, pause, withDeadline } from '../async/timer.js';
import type { Backoff } from '../async/timer.js';
import { LockShutdownError, LockTimeoutError, LockUnavailableError } from '../contract/errors.js';
import type { LockError } from '../contract/errors.js';
import type { BackendState } from '../contract/lock-backend.js';
import { nameOf } from '../contract/lock-request.js';
import type { KeyedRequest } from '../contract/lock-request.js';

const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 500;

/**
 * The error of a request or a wait whose session is over. The request has no effect any more, and may begin again on
 * the next session.
 */
export class SessionEndedError extends Error {
  constructor(readonly why: string) {
    super(`the session is over: ${why}`);
    this.name = 'SessionEndedError';
  }
}

/**
 * The sessions of one backend, one after the other, and the callers that wait for one. A backend extends it by the way
 * of opening a session and keeping it.
 */
export abstract class BackendSessions<S> {
  readonly #servers: string;
  readonly #connectTimeoutMs: number;
  /** The callers that wait for a server. They leave: an outage may last for long. */
  readonly #waiting = new LinkedList<Deferred<S>>();
  #serving: S | undefined;
  #hasLost = false;
  #isClosed = false;

  /** @param servers the kind of servers, for messages */
  constructor(servers: string, connectTimeoutMs: number) {
    this.#servers = servers;
    this.#connectTimeoutMs = connectTimeoutMs;
  }

  get state(): BackendState {
    if (this.#serving) return 'connected';
    return this.#hasLost || this.#isClosed ? 'lost' : 'suspended';
  }

  /** The session, while a server is connected. */
  get connected(): S | undefined {
    return this.#serving;
  }

  /**
   * Returns the connected session, or waits for the next one.
   * @param key what the session is for, for the error
   * @param isNext whether the caller has had a session before: it then waits until its signal aborts
   * @throws LockUnavailableError after `connectTimeoutMs` without a server; LockConfigurationError; `signal.reason`
   */
  async session(signal: AbortSignal = NEVER, key?: string, isNext = false): Promise<S> {
    if (this.#isClosed) throw new LockShutdownError(key);
    this.start();
    if (this.#serving) return this.#serving;
    const since = now();
    const caller = deferred<S>();
    const place = this.#waiting.join(caller);
    try {
      return await this.inTime((limit) => orAbort(caller.promise, limit), signal, key, isNext ? Infinity : 0);
    } catch (error) {
      // The caller does not wait behind another contender, but for a server. So this is not a lock timeout.
      if (error !== signal.reason || !(error instanceof LockTimeoutError)) throw error;
      throw this.unavailable(isNext ? Math.round(now() - since) : error.waitMs, key);
    } finally {
      place.leave();
    }
  }

  /**
   * Runs `work` with a signal. It aborts with `given`'s reason, or after `connectTimeoutMs` because no server answers.
   * @param key what the work is about, for the error
   * @param workMs the time that the work may take in addition, in milliseconds
   */
  inTime<T>(work: (signal: AbortSignal) => Promise<T>, given: AbortSignal, key?: string, workMs = 0): Promise<T> {
    const ms = this.#connectTimeoutMs + workMs;
    return withDeadline(ms, () => this.unavailable(ms, key), given, work);
  }

  /** The error for a caller whose request no server answered. @param key what the caller asked for */
  unavailable(waitedMs: number, key?: string): LockUnavailableError {
    const cause = this.lastError;
    const about = key === undefined ? '' : `"${key}": `;
    const hint = cause instanceof Error ? ` (${cause.message})` : '';
    const text = `${about}no ${this.#servers} server answered within ${waitedMs} ms${hint}`;
    return new LockUnavailableError(text, { key, cause });
  }

  /** Begins to connect. A second call has no effect. */
  protected abstract start(): void;

  /** The reason why no server is connected, as far as it is known. */
  protected abstract get lastError(): unknown;

  protected get isConnected(): boolean {
    return this.#serving !== undefined;
  }

  protected get isClosed(): boolean {
    return this.#isClosed;
  }

  /** A server is connected: callers get this session. */
  protected serves(session: S): void {
    if (this.#isClosed) return;
    this.#serving = session;
    this.#hasLost = false;
    for (let caller = this.#waiting.shift(); caller; caller = this.#waiting.shift()) caller.resolve(session);
  }

  /** No server is connected. */
  protected disconnected(): void {
    this.#serving = undefined;
  }

  /** A session is over. */
  protected lostSession(): void {
    this.#hasLost = true;
  }

  /** Rejects the callers that wait, with an error that only other settings end. Later callers wait again. */
  protected refused(error: LockError): void {
    for (let caller = this.#waiting.shift(); caller; caller = this.#waiting.shift()) caller.reject(error);
  }

  /** Nothing is served any more. */
  protected closed(): void {
    this.#isClosed = true;
    this.disconnected();
    this.refused(new LockShutdownError());
  }
}

/** The part of `BackendSessions` that requests need. */
export type ServingSessions<S> = Pick<BackendSessions<S>, 'connected' | 'session' | 'inTime'>;

/** A request for a key, and how long it may take. */
export interface Call extends KeyedRequest {
  /** Whether it may take until the signal aborts. Otherwise it may take only as long as servers may take to answer. */
  readonly wait: boolean;
  /** Whether it continues a wait: without a server it waits until the signal aborts, and not for `connectTimeoutMs`. */
  readonly isContinued?: boolean;
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
  for (let isNext = call.isContinued ?? false; ; isNext = true) {
    const session = sessions.connected ?? (await sessions.session(signal, name, isNext));
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

/**
 * Converts the error of a write that was sent and may have been applied. If the servers did not answer, or not before the
 * shutdown, the error says that the result is unknown.
 */
export function inDoubt(error: unknown, what: string, key: string): unknown {
  const why = unanswered(error);
  if (why === undefined) return error;
  return new LockUnavailableError(`${why}; ${what} is not known`, { key, cause: error });
}

function unanswered(error: unknown): string | undefined {
  if (error instanceof LockTimeoutError) return 'the servers had not answered in time';
  if (error instanceof LockShutdownError) return 'the application shut down before the answer';
  return error instanceof LockUnavailableError ? error.message : undefined;
}
