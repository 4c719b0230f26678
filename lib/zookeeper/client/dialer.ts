import { connect as connectTcp } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { ConnectionOptions as TlsConnectionOptions } from 'node:tls';
import type { Dispose } from '../../async/abort.js';
import { now } from '../../async/clock.js';
import { after, backoff } from '../../async/timer.js';
import type { ServerAddress } from './connect-string.js';

/** The events of the current socket. */
export interface SocketEvents {
  /** The socket exists. Nothing has happened on it yet, so the listener can subscribe to its data. */
  opened(socket: Socket): void;
  connected(): void;
  /** The server has closed its end. `closed` follows some turns later. */
  ended(): void;
  /** The handshake has timed out. `closed` follows. */
  unanswered(): void;
  closed(hasError: boolean): void;
}

/**
 * Opens one socket after the other, to one server after the other. An attempt ends with the handshake or with a
 * time-out.
 */
export class Dialer {
  readonly #options: ConnectionOptions;
  readonly #rotation: ServerRotation;
  readonly #events: SocketEvents;
  #socket: Socket | undefined;
  #cancelAttempt: Dispose = () => {};
  #isAccepted = false;
  /** The server of the last attempt, as `host:port`. */
  server: string | undefined;
  /** The last connection error. */
  lastError: Error | undefined;
  /** Whether a server has answered a request on the current connection. */
  hasAnswered = false;

  constructor(options: ConnectionOptions, events: SocketEvents) {
    this.#options = options;
    this.#rotation = new ServerRotation(options.servers);
    this.#events = events;
  }

  /** Connects to the next server. There is a pause before it once all servers have been tried in vain. */
  dial(sessionTimeoutMs: number): void {
    if (this.hasAnswered) this.#rotation.answered();
    this.hasAnswered = false;
    this.#rotation.next((server) => this.#attempt(server, attemptMs(sessionTimeoutMs)));
  }

  /** Ends the attempt after a completed handshake. */
  succeeded(): void {
    this.#isAccepted = true;
    this.#cancelAttempt();
    this.lastError = undefined;
    this.#rotation.succeeded();
  }

  /** Destroys the socket. `closed` follows. */
  hangUp(why?: unknown): void {
    if (why !== undefined) this.lastError = why instanceof Error ? why : new Error('the link failed', { cause: why });
    this.#socket?.destroy();
  }

  stop(): void {
    this.#rotation.stop();
    this.#cancelAttempt();
  }

  #attempt(server: ServerAddress, limitMs: number): void {
    const events = this.#events;
    const socket = openSocket(server, this.#options.tls, () => events.connected());
    this.#socket = socket;
    this.server = `${server.host.includes(':') ? `[${server.host}]` : server.host}:${server.port}`;
    this.#isAccepted = false;
    events.opened(socket);
    socket.on('error', (error) => (this.lastError = this.#options.tls ? overTls(error) : error));
    socket.on('end', () => {
      if (!this.#isAccepted) this.lastError = closedEarly();
      events.ended();
    });
    socket.on('close', (hasError) => {
      this.#cancelAttempt();
      events.closed(hasError);
    });
    const tooLate = new Error('a server did not accept the session in time');
    this.#cancelAttempt = after(limitMs, () => {
      events.unanswered();
      this.hangUp(tooLate);
    });
  }
}

/**
 * Explains errors of a TLS connection. A server without TLS closes at the first bytes of TLS, or replies in plain text.
 */
function overTls(error: NodeJS.ErrnoException): Error {
  const isPlain = error.code === 'ECONNRESET' || error.code === 'ERR_SSL_WRONG_VERSION_NUMBER';
  if (!isPlain) return error;
  const why = 'is it a port without TLS? The tls option needs the secureClientPort of the servers';
  return new Error(`${error.message}: ${why}`, { cause: error });
}

function closedEarly(): Error {
  return new Error(
    'a server closed the connection before it accepted the session: it is not serving, has too many clients, or its port needs TLS',
  );
}

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;
// A connection that ends sooner may have been ended by one of its own requests, which comes again on the next one.
const BRIEF_MS = 25;

/**
 * Chooses the next server to try. Each server is tried once without a pause, then with pauses that grow. They begin
 * anew after a connection that has answered a request: it was of use, however soon it was reset. Every client has an
 * order of its own.
 */
export class ServerRotation {
  readonly #servers: readonly ServerAddress[];
  readonly #pauses = backoff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
  #next = 0;
  #triedInVain = 0;
  #connectedAt = -Infinity;
  #hasAnswered = false;
  #cancel: Dispose = () => {};

  constructor(servers: readonly ServerAddress[], random: () => number = Math.random) {
    this.#servers = shuffled(servers, random);
  }

  /** Calls back with the next server to try, never in the same turn. */
  next(callback: (server: ServerAddress) => void): void {
    const pauseMs = this.#pauseMs();
    this.#hasAnswered = false;
    this.#triedInVain++;
    const take = () => callback(this.#take());
    this.#cancel = pauseMs > 0 ? after(pauseMs, take) : inNextTurn(take);
  }

  /** Records that a server accepted the session. */
  succeeded(): void {
    this.#connectedAt = now();
  }

  /** Records that the connected server has answered a request. */
  answered(): void {
    this.#hasAnswered = true;
  }

  stop(): void {
    this.#cancel();
  }

  #pauseMs(): number {
    if (this.#hasAnswered) {
      this.#triedInVain = 0;
      this.#pauses.reset();
      if (now() - this.#connectedAt < BRIEF_MS) return FIRST_PAUSE_MS;
    }
    return this.#triedInVain < this.#servers.length ? 0 : this.#pauses.next();
  }

  #take(): ServerAddress {
    const server = this.#servers[this.#next % this.#servers.length];
    this.#next++;
    if (!server) throw new RangeError('no servers');
    return server;
  }
}

/** A timer of 0 ms would take a millisecond at least. */
function inNextTurn(action: () => void): Dispose {
  const turn = setImmediate(action);
  return () => clearImmediate(turn);
}

function shuffled<T>(items: readonly T[], random: () => number): readonly T[] {
  const rest = [...items];
  return items.map(() => rest.splice(Math.floor(random() * rest.length), 1)).flat();
}

/** The TLS options of Node that apply to a connection to an ensemble. */
export type TlsOptions = Pick<
  TlsConnectionOptions,
  | 'ca'
  | 'cert'
  | 'key'
  | 'pfx'
  | 'passphrase'
  | 'servername'
  | 'rejectUnauthorized'
  | 'checkServerIdentity'
  | 'minVersion'
  | 'secureContext'
>;

/** Connects to a server. `connected` is called when bytes may be sent: over TLS, after the TLS handshake. */
function openSocket(server: ServerAddress, tls: TlsOptions | undefined, connected: () => void): Socket {
  const socket = tls ? connectTls({ ...tls, ...server }) : connectTcp(server);
  // Requests are small, and a caller waits for each of them.
  socket.setNoDelay();
  socket.once(tls ? 'secureConnect' : 'connect', connected);
  return socket;
}

export interface ConnectionOptions {
  readonly servers: readonly ServerAddress[];
  readonly sessionTimeoutMs: number;
  /** The credentials that are sent before anything else. */
  readonly auth: readonly { readonly scheme: string; readonly credentials: string }[];
  readonly tls?: TlsOptions | undefined;
}

const SHORTEST_ATTEMPT_MS = 250;

/**
 * The time that one server has to accept the connection and the session. It is short enough to try another server in
 * time.
 */
function attemptMs(sessionTimeoutMs: number): number {
  return Math.max(SHORTEST_ATTEMPT_MS, sessionTimeoutMs / 6);
}
