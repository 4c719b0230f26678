import { connect as connectTcp } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { ConnectionOptions as TlsConnectionOptions } from 'node:tls';
import type { Dispose } from '../../async/abort.js';
import { now } from '../../async/clock.js';
import { after, backoff } from '../../async/timer.js';
import type { ServerAddress } from './connect-string.js';

/** What happens to the socket of the moment. */
export interface SocketEvents {
  /** There is one, on which nothing has happened yet. */
  opened(socket: Socket): void;
  connected(): void;
  data(bytes: Buffer): void;
  drain(): void;
  /** The server has hung up; `closed` follows some turns later. */
  ended(): void;
  /** The time for the handshake is over; `closed` follows. */
  unanswered(): void;
  closed(hasError: boolean): void;
}

/** Opens one socket after the other, to one server after the other; an attempt ends with the handshake or in time. */
export class Dialer {
  readonly #options: ConnectionOptions;
  readonly #rotation: ServerRotation;
  readonly #events: SocketEvents;
  #socket: Socket | undefined;
  #cancelAttempt: Dispose = () => {};
  #isAccepted = false;
  /** What went wrong last. */
  lastError: Error | undefined;

  constructor(options: ConnectionOptions, events: SocketEvents) {
    this.#options = options;
    this.#rotation = new ServerRotation(options.servers);
    this.#events = events;
  }

  /** Connects to the next server, after a pause when all have been tried in vain. */
  dial(sessionTimeoutMs: number): void {
    this.#rotation.next((server) => this.#attempt(server, attemptMs(sessionTimeoutMs)));
  }

  /** The handshake is done. */
  succeeded(): void {
    this.#isAccepted = true;
    this.#cancelAttempt();
    this.lastError = undefined;
    this.#rotation.succeeded();
  }

  /** The socket is of no use any more: `closed` follows. */
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
    this.#isAccepted = false;
    events.opened(socket);
    socket.on('data', (bytes: Buffer) => events.data(bytes));
    socket.on('drain', () => events.drain());
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

/** Also what a server without TLS does with the first bytes of TLS: it closes, or answers in plain text. */
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
// A link that ends sooner was of no use: the server, or what is asked of it, is at fault.
const USEFUL_MS = 1_000;

/** Which server to try next: each once without a pause, in an order of its own for every client, then with pauses. */
export class ServerRotation {
  readonly #servers: readonly ServerAddress[];
  readonly #pauses = backoff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
  #next = 0;
  #triedInVain = 0;
  #connectedAt = Infinity;
  #cancel: Dispose = () => {};

  constructor(servers: readonly ServerAddress[], random: () => number = Math.random) {
    this.#servers = shuffled(servers, random);
  }

  /** Calls back with the next server to try, never in the same turn. */
  next(callback: (server: ServerAddress) => void): void {
    if (now() - this.#connectedAt >= USEFUL_MS) this.#startOver();
    this.#connectedAt = Infinity;
    const pauseMs = this.#triedInVain < this.#servers.length ? 0 : this.#pauses.next();
    this.#triedInVain++;
    this.#cancel = after(pauseMs, () => callback(this.#take()));
  }

  /** A server answered. When it has done so for a while, whoever is next is again tried without a pause. */
  succeeded(): void {
    this.#connectedAt = now();
  }

  stop(): void {
    this.#cancel();
  }

  #startOver(): void {
    this.#triedInVain = 0;
    this.#pauses.reset();
  }

  #take(): ServerAddress {
    const server = this.#servers[this.#next % this.#servers.length];
    this.#next++;
    if (!server) throw new RangeError('no servers');
    return server;
  }
}

function shuffled<T>(items: readonly T[], random: () => number): readonly T[] {
  const rest = [...items];
  return items.map(() => rest.splice(Math.floor(random() * rest.length), 1)).flat();
}

/** Those of Node's TLS options that go into a connection to an ensemble. */
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

/** Connects to a server; `connected` is called when bytes may be sent, over TLS after its handshake. */
function openSocket(server: ServerAddress, tls: TlsOptions | undefined, connected: () => void): Socket {
  const socket = tls ? connectTls({ ...tls, ...server }) : connectTcp(server);
  // Requests are small and somebody waits for each.
  socket.setNoDelay();
  socket.once(tls ? 'secureConnect' : 'connect', connected);
  return socket;
}

export interface ConnectionOptions {
  readonly servers: readonly ServerAddress[];
  readonly sessionTimeoutMs: number;
  /** What the session shows the servers before anything else. */
  readonly auth: readonly { readonly scheme: string; readonly credentials: string }[];
  readonly tls?: TlsOptions | undefined;
}

const SHORTEST_ATTEMPT_MS = 250;

/** How long one server may take to accept a connection and the session: short enough to try another in time. */
function attemptMs(sessionTimeoutMs: number): number {
  return Math.max(SHORTEST_ATTEMPT_MS, sessionTimeoutMs / 6);
}
