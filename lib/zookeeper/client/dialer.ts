import { after } from '../../async/timer.js';
import type { Dispose } from '../../async/abort.js';
import type { Socket } from 'node:net';
import { attemptMs } from './connection.options.js';
import type { ConnectionOptions } from './connection.options.js';
import type { ServerAddress } from './connect-string.js';
import { openSocket } from './open-socket.js';
import { ServerRotation } from './server-rotation.js';

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
