import type { Dispose } from '../../async/abort.js';
import { after, backoff } from '../../async/timer.js';
import { LockConfigurationError } from '../../contract/errors.js';
import type { ConnectionLog } from '../../contract/lock-backend.js';
import type { SessionChanges } from '../../contract/session-changes.js';
import type { BackendVitals } from '../../contract/survey.js';
import { BackendSessions } from '../../sessions/backend-sessions.js';
import { SessionReport } from '../../sessions/session-report.js';
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
export class SessionSupervisor extends BackendSessions<Session> {
  readonly #openClient: OpenClient;
  readonly #listener: SessionListener;
  readonly #pauses = backoff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
  #client: ZooKeeperClient | undefined;
  #session: Session | undefined;
  #server: string | undefined;
  #cancelNext: Dispose = () => {};

  constructor(openClient: OpenClient, connectTimeoutMs: number, listener: SessionListener = NOBODY) {
    super('ZooKeeper', connectTimeoutMs);
    this.#openClient = openClient;
    this.#listener = listener;
  }

  /** The session and its server, in numbers. Asks no server. */
  get vitals(): BackendVitals {
    const session = this.#session;
    return {
      sessionId: session && idText(session.id),
      sessionTimeoutMs: session?.timeoutMs,
      marginMs: session && Math.max(0, session.leftMs),
      server: this.isConnected ? this.#server : undefined,
    };
  }

  /** Begins to connect. A second call has no effect. */
  start(): void {
    if (!this.#client && !this.isClosed) this.#open();
  }

  async close(): Promise<void> {
    this.#cancelNext();
    this.closed();
    this.#session?.ended('closed');
    await this.#client?.close(GOODBYE_MS);
  }

  protected override get lastError(): Error | undefined {
    return this.#client?.lastError;
  }

  #open(): void {
    const client = this.#openClient({
      connected: (handshake) => {
        if (this.#session) this.#session.connected(handshake);
        else this.#session = new Session(client, handshake);
        this.#server = handshake.server;
        this.#pauses.reset();
        this.serves(this.#session);
        if (!this.isClosed) this.#listener.connected(handshake);
      },
      disconnected: () => {
        const session = this.#session;
        this.disconnected();
        session?.disconnected();
        if (session && !this.isClosed) this.#listener.disconnected(session, client.lastError);
      },
      answered: (answer) => this.#session?.answered(answer),
      ended: (why) => this.#ended(why),
    });
    this.#client = client;
    client.connect();
  }

  #ended(why: SessionEnd): void {
    const session = this.#session;
    this.#session = undefined;
    this.lostSession();
    this.disconnected();
    session?.ended(why);
    if (this.isClosed) return;
    if (session) this.#listener.ended(session, why);
    if (why === 'authentication failed') {
      this.refused(new LockConfigurationError('the servers refused the credentials; check the auth option'));
    }
    this.#cancelNext = after(this.#pauses.next(), () => this.#open());
  }
}

/** The report on the sessions of an ensemble. */
export class ZooKeeperReport implements SessionListener {
  readonly #report = new SessionReport('a server');
  readonly #servers: string;
  readonly #timeout: GrantedTimeout;

  /** @param servers the servers, for messages */
  constructor(servers: string, timeout: GrantedTimeout) {
    this.#servers = servers;
    this.#timeout = timeout;
  }

  /** The same changes, for a listener. */
  get changes(): SessionChanges {
    return this.#report.changes;
  }

  logTo(log: ConnectionLog): void {
    this.#report.logTo(log);
    this.#timeout.warnTo((message) => log.warn(message));
  }

  connected(handshake: Handshake): void {
    const { sessionId, timeoutMs, server } = handshake;
    const session = { sessionId: idText(sessionId), sessionTimeoutMs: timeoutMs, server };
    this.#report.connected(this.#servers, session);
    this.#timeout.granted(handshake);
  }

  disconnected(session: Session, error: Error | undefined): void {
    const why = error ? ` (${error.message})` : '';
    const line = `the connection to ${this.#servers} is lost${why}`;
    this.#report.disconnected(line, error?.message ?? 'the connection is lost', session);
  }

  ended({ id }: Session, why: SessionEnd): void {
    this.#report.ended(idText(id), why);
  }
}

/** The session id as the servers write it in their logs. */
function idText(sessionId: bigint): string {
  return `0x${BigInt.asUintN(64, sessionId).toString(16)}`;
}
