import { NEVER, orAbort } from '../../async/abort.js';
import type { Dispose } from '../../async/abort.js';
import { now } from '../../async/clock.js';
import { deferred } from '../../async/deferred.js';
import type { Deferred } from '../../async/deferred.js';
import { after, backoff, orTimeout, withDeadline } from '../../async/timer.js';
import {
  LockConfigurationError,
  LockShutdownError,
  LockTimeoutError,
  LockUnavailableError,
} from '../../contract/errors.js';
import type { BackendState, ConnectionLog } from '../../contract/lock-backend.js';
import { SessionChanges } from '../../contract/session-changes.js';
import type { BackendVitals } from '../../contract/survey.js';
import type { ClientListener, Handshake, SessionEnd, ZooKeeperClient } from '../client/zookeeper-client.js';
import type { GrantedTimeout } from './lease-clock.js';
import { Session } from './session.js';

const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 2_000;
const GOODBYE_MS = 1_000;

/** A factory of clients. Each client is for one session and reports to `listener`. */
type OpenClient = (listener: ClientListener) => ZooKeeperClient;

/** A listener for the sessions of one supervisor. It is not called any more after the supervisor is closed. */
interface SessionListener {
  /** A server has answered a handshake. */
  connected(handshake: Handshake): void;
  /** The connection is lost. The session may continue. */
  disconnected(session: Session, error: Error | undefined): void;
  /** A session that had been connected is over. */
  ended(session: Session, why: SessionEnd): void;
}

const NOBODY: SessionListener = { connected() {}, disconnected() {}, ended() {} };

/** Keeps one session open. When it is over, the next one is opened. */
export class SessionSupervisor {
  readonly #openClient: OpenClient;
  readonly #connectTimeoutMs: number;
  readonly #listener: SessionListener;
  readonly #pauses = backoff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
  #client: ZooKeeperClient | undefined;
  #session: Session | undefined;
  #connected: Deferred<Session> = awaited();
  #server: string | undefined;
  #isConnected = false;
  #hasLost = false;
  #isClosed = false;
  #cancelNext: Dispose = () => {};

  constructor(openClient: OpenClient, connectTimeoutMs: number, listener: SessionListener = NOBODY) {
    this.#openClient = openClient;
    this.#connectTimeoutMs = connectTimeoutMs;
    this.#listener = listener;
  }

  get state(): BackendState {
    if (this.#isConnected) return 'connected';
    return this.#hasLost || this.#isClosed ? 'lost' : 'suspended';
  }

  /** The session, while a server is connected. */
  get connected(): Session | undefined {
    return this.#isConnected ? this.#session : undefined;
  }

  /** The session and its server, in numbers. Asks no server. */
  get vitals(): BackendVitals {
    const session = this.#session;
    return {
      sessionId: session && idText(session.id),
      sessionTimeoutMs: session?.timeoutMs,
      marginMs: session && Math.max(0, session.leftMs),
      server: this.#isConnected ? this.#server : undefined,
    };
  }

  /** Begins to connect. A second call has no effect. */
  start(): void {
    if (!this.#client && !this.#isClosed) this.#open();
  }

  /**
   * Returns the connected session, or waits for the next one.
   * @param key what the session is for, for the error
   * @throws LockUnavailableError after `connectTimeoutMs` without a server
   */
  async session(signal: AbortSignal = NEVER, key?: string): Promise<Session> {
    this.start();
    const connected = orTimeout(this.#connected.promise, this.#connectTimeoutMs, () =>
      this.unavailable(this.#connectTimeoutMs, key),
    );
    return orAbort(connected, signal).catch((error: unknown) => {
      // The time was not spent behind another contender: no server was asked. So this is not a lock timeout.
      throw error === signal.reason && error instanceof LockTimeoutError ? this.unavailable(error.waitMs, key) : error;
    });
  }

  /**
   * Runs `work` with a signal. It aborts with `given`'s reason, or after `connectTimeoutMs` because no server answers.
   * @param key what the work is about, for the error
   */
  inTime<T>(work: (signal: AbortSignal) => Promise<T>, given: AbortSignal, key: string): Promise<T> {
    const ms = this.#connectTimeoutMs;
    return withDeadline(ms, () => this.unavailable(ms, key), given, work);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelNext();
    this.#disconnected();
    this.#connected.reject(new LockShutdownError());
    this.#session?.ended('closed');
    await this.#client?.close(GOODBYE_MS);
  }

  #open(): void {
    const client = this.#openClient({
      connected: (handshake) => {
        if (this.#session) this.#session.connected(handshake);
        else this.#session = new Session(client, handshake);
        this.#server = handshake.server;
        this.#succeeded(this.#session);
        if (!this.#isClosed) this.#listener.connected(handshake);
      },
      disconnected: () => {
        const session = this.#session;
        session?.disconnected();
        this.#disconnected();
        if (session && !this.#isClosed) this.#listener.disconnected(session, client.lastError);
      },
      answered: (answer) => this.#session?.answered(answer),
      ended: (why) => this.#ended(why),
    });
    this.#client = client;
    client.connect();
  }

  #succeeded(session: Session): void {
    this.#hasLost = false;
    this.#isConnected = true;
    this.#pauses.reset();
    this.#connected.resolve(session);
  }

  #ended(why: SessionEnd): void {
    const session = this.#session;
    session?.ended(why);
    this.#session = undefined;
    if (this.#isClosed) return;
    if (session) this.#listener.ended(session, why);
    this.#hasLost = true;
    this.#disconnected();
    if (why === 'authentication failed') this.#refused();
    this.#cancelNext = after(this.#pauses.next(), () => this.#open());
  }

  // Later callers get a new promise: the servers may accept the credentials by then.
  #refused(): void {
    this.#connected.reject(new LockConfigurationError('the servers refused the credentials; check the auth option'));
    this.#connected = awaited();
  }

  // Callers that wait already keep waiting for the same promise.
  #disconnected(): void {
    if (this.#isConnected) this.#connected = awaited();
    this.#isConnected = false;
  }

  /** The error for a caller whose request no server answered. @param key what the caller asked for */
  unavailable(waitedMs: number, key?: string): LockUnavailableError {
    const cause = this.#client?.lastError;
    const about = key === undefined ? '' : `"${key}": `;
    const hint = cause ? ` (${cause.message})` : '';
    return new LockUnavailableError(`${about}no ZooKeeper server answered within ${waitedMs} ms${hint}`, {
      key,
      cause,
    });
  }
}

/** Returns a deferred whose rejection is not reported as unhandled when no caller waits for it. */
function awaited(): Deferred<Session> {
  const session = deferred<Session>();
  session.promise.catch(() => {});
  return session;
}

const SILENT: ConnectionLog = { log() {}, warn() {} };

/**
 * Logs the fate of a connection and its sessions, and tells a listener. There is one log entry for each outage, each end
 * of a session, and each new connection.
 */
export class SessionReport implements SessionListener {
  /** The same changes, for a listener. */
  readonly changes = new SessionChanges();
  readonly #servers: string;
  readonly #timeout: GrantedTimeout;
  #log = SILENT;
  #sessionId: bigint | undefined;
  #downSince: number | undefined;

  /** @param servers the servers, for messages */
  constructor(servers: string, timeout: GrantedTimeout) {
    this.#servers = servers;
    this.#timeout = timeout;
  }

  logTo(log: ConnectionLog): void {
    this.#log = log;
    this.#timeout.warnTo((message) => log.warn(message));
  }

  connected(handshake: Handshake): void {
    const { sessionId, timeoutMs } = handshake;
    const session = `session ${idText(sessionId)}, timeout ${timeoutMs} ms`;
    if (this.#sessionId === undefined) this.#log.log(`connected to ${this.#servers}: ${session}`);
    else if (this.#downSince !== undefined) {
      const awayMs = Math.round(now() - this.#downSince);
      const which = sessionId === this.#sessionId ? 'the same as before' : 'a new one';
      this.#log.warn(`connected again to ${this.#servers} after ${awayMs} ms: ${session}, ${which}`);
    }
    this.#sessionId = sessionId;
    this.#downSince = undefined;
    this.#timeout.granted(handshake);
    const { server } = handshake;
    this.changes.connected({ sessionId: idText(sessionId), sessionTimeoutMs: timeoutMs, server });
  }

  disconnected(session: Session, error: Error | undefined): void {
    if (this.#downSince !== undefined) return;
    this.#downSince = now();
    const why = error ? ` (${error.message})` : '';
    const leftMs = Math.max(0, Math.round(session.leftMs));
    const { leases } = session;
    const consequence =
      leases === 0
        ? ''
        : `; held leases (${leases}) are suspended, and lost unless a server answers within ${leftMs} ms`;
    this.#log.warn(`the connection to ${this.#servers} is lost${why}${consequence}`);
    this.changes.suspended(error?.message ?? 'the connection is lost');
  }

  ended(session: Session, why: SessionEnd): void {
    this.#downSince ??= now();
    this.#log.warn(
      `session ${idText(session.id)} is over: ${why}. Its leases are lost; waits line up again in the next one`,
    );
    this.changes.lost(why);
  }
}

/** The session id as the servers write it in their logs. */
function idText(sessionId: bigint): string {
  return `0x${BigInt.asUintN(64, sessionId).toString(16)}`;
}
