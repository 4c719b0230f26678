import { NEVER } from '../async/abort.js';
import { LockConfigurationError, LockTimeoutError, LockUnavailableError } from '../contract/errors.js';
import { nameOf } from '../contract/lock-request.js';
import type { KeyedRequest, LockRequest } from '../contract/lock-request.js';
import { CounterStuckError } from './recipes/counter.js';
import { NodeDeletedError } from './recipes/held-nodes.js';
import { isKeeperError, KeeperError, RequestTooLargeError, SessionEndedError } from './session/requests.js';
import type { SessionSupervisor } from './session/session-supervisor.js';
import type { Session } from './session/session.js';

/** The part of `SessionSupervisor` that requests need. */
interface AskedSessions<S> {
  session(signal: AbortSignal, key: string): Promise<S>;
  inTime<T>(work: (signal: AbortSignal) => Promise<T>, given: AbortSignal, key: string): Promise<T>;
}

/** Makes a request on one session after the other. It is repeated when its session ends or its own znode is deleted. */
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
      const isOver = error instanceof SessionEndedError || error instanceof NodeDeletedError;
      if (!isOver) throw explained(error, key);
    }
  }
}

/**
 * Makes a request, for as long as servers may take to answer.
 * @param key what the request is about, for messages
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

/** A request for a key, and how long it may take. */
export interface Call extends KeyedRequest {
  /**
   * Whether the call may take until the signal aborts. Otherwise it may take only as long as servers may take to
   * answer.
   */
  readonly wait: boolean;
  readonly signal: AbortSignal;
}

/** Calls that continue on the next session when their session ends. */
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

/** One attempt to carry out a request on one session. */
export type Attempt<R extends LockRequest, T> = (session: Session, request: R) => Promise<T | null>;

/** Whether the failed attempt can be repeated on the current or the next session. */
export function canBeginAgain(error: unknown): boolean {
  return error instanceof SessionEndedError || error instanceof NodeDeletedError;
}

/**
 * Converts a refusal, by the servers or by this client, into an error that says what the caller should do. Any other
 * error is returned unchanged.
 */
export function explained(error: unknown, key: string): unknown {
  const details = { key, cause: error };
  if (error instanceof RequestTooLargeError) return new LockConfigurationError(`"${key}": ${error.message}`, details);
  if (error instanceof CounterStuckError) return new LockUnavailableError(`"${key}": ${error.message}`, details);
  if (!(error instanceof KeeperError)) return error;
  const isRefused = isKeeperError(error, 'noAuth') || isKeeperError(error, 'invalidAcl');
  const message = `"${key}": ${error.message}`;
  if (isKeeperError(error, 'noChildrenForEphemerals')) {
    const why = 'it lies below an ephemeral znode, which has no children; use another key';
    return new LockConfigurationError(`${message}; ${why}`, details);
  }
  return isRefused
    ? new LockConfigurationError(`${message}; check the auth and acl options of zookeeper()`, details)
    : new LockUnavailableError(message, details);
}

/**
 * Converts the error of a write that was sent and may have been applied. If the servers did not answer, the error says
 * that the result is unknown.
 */
export function inDoubt(error: unknown, what: string, key: string): unknown {
  const isTimeout = error instanceof LockTimeoutError;
  if (!isTimeout && !(error instanceof LockUnavailableError)) return error;
  const why = isTimeout ? `the servers had not answered after ${error.waitMs} ms` : error.message;
  return new LockUnavailableError(`${why}; ${what} is not known`, { key, cause: error });
}
