import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { FaultLink, noFaults } from './fault-link.js';
import type { Direction, Faults } from './fault-link.js';
import { closeSession, SessionSniffer } from './session-sniffer.js';
import type { SniffedSession } from './session-sniffer.js';

interface Connection {
  readonly sockets: readonly [client: Socket, server: Socket];
  readonly links: Readonly<Record<Direction, FaultLink>>;
  readonly session: SessionSniffer;
}

const DIRECTIONS: readonly Direction[] = ['toServer', 'toClient'];

/**
 * A TCP proxy on 127.0.0.1 between an application and one ZooKeeper server, for simulating network faults:
 * - bytes that are late, pass one way only, do not arrive, or are cut in the middle of a message
 * - connections that are refused or closed
 * - sessions that expire
 *
 * Faults apply to all connections, later ones included, until `heal()`.
 */
export class FaultProxy implements AsyncDisposable {
  /** The port that the proxy listens on, on 127.0.0.1. */
  readonly port: number;
  readonly #server: Server;
  readonly #target: { readonly host: string; readonly port: number };
  readonly #connections = new Set<Connection>();
  readonly #faults: Readonly<Record<Direction, Faults>> = { toServer: noFaults(), toClient: noFaults() };
  #refuses = false;
  #accepted = 0;

  private constructor(server: Server, target: { host: string; port: number }) {
    this.port = (server.address() as AddressInfo).port;
    this.#server = server;
    this.#target = target;
    server.on('connection', (client) => this.#accept(client));
  }

  /**
   * Opens a proxy on a free port of 127.0.0.1.
   * @param target `host:port` of the server, or its port on 127.0.0.1
   */
  static async open(target: string | number): Promise<FaultProxy> {
    const [host = '', port = ''] = typeof target === 'number' ? ['127.0.0.1', target] : target.split(':');
    const server = createServer({ noDelay: true });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new FaultProxy(server, { host, port: Number(port) });
  }

  /** The address for clients, as `host:port`. */
  get connectString(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** The number of connections accepted so far. */
  get accepted(): number {
    return this.#accepted;
  }

  /** The number of open connections. */
  get connections(): number {
    return this.#connections.size;
  }

  /** Delays bytes by this many milliseconds. */
  delay(delayMs: number, direction?: Direction): void {
    this.#change({ delayMs }, direction);
  }

  /** Holds all bytes back without closing connections: the link is half open. What was sent arrives after `heal()`. */
  blackHole(direction?: Direction): void {
    this.#change({ isBlackHole: true }, direction);
  }

  /** Limits the throughput to this many bytes a second. */
  throttle(bytesPerSecond: number, direction?: Direction): void {
    this.#change({ bytesPerSecond }, direction);
  }

  /** Cuts the connection after this many more bytes, at whatever position of a message that is. Happens once. */
  cutAfter(bytes: number, direction: Direction = 'toClient'): void {
    this.#change({ cutAfterBytes: bytes }, direction);
  }

  /** Accepts connections only to close them. */
  refuse(): void {
    this.#refuses = true;
  }

  /** Closes every connection: `fin` like a server that closes it, `rst` like a server that was killed. */
  disconnect(how: 'fin' | 'rst' = 'rst'): void {
    for (const { sockets } of this.#connections) {
      for (const socket of sockets)
        if (how === 'fin') socket.end();
        else socket.resetAndDestroy();
    }
  }

  /** Removes all faults. Connections are kept. */
  heal(): void {
    this.#refuses = false;
    this.#change(noFaults());
  }

  /**
   * Expires the sessions that are connected through this proxy, as servers do: their znodes are deleted before the
   * owners are notified. A second connection takes each session over and closes it.
   */
  async expireSessions(): Promise<void> {
    const sessions = [...this.#connections]
      .map(({ session }) => session.session)
      .filter((session) => session !== undefined);
    await Promise.all(sessions.map((session: SniffedSession) => closeSession(this.#target, session)));
  }

  /** Ends all faults, closes the connections and stops listening. */
  async close(): Promise<void> {
    this.heal();
    for (const { sockets } of this.#connections) sockets.forEach((socket) => socket.destroy());
    if (this.#server.listening) await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Closes the proxy, like `close()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #change(change: Partial<Faults>, direction?: Direction): void {
    for (const way of direction ? [direction] : DIRECTIONS) {
      Object.assign(this.#faults[way], change);
      this.#connections.forEach(({ links }) => links[way].refresh());
    }
  }

  #accept(client: Socket): void {
    if (this.#refuses) return void client.resetAndDestroy();
    this.#accepted++;
    const server = connect({ ...this.#target, noDelay: true });
    const cut = () => {
      for (const way of DIRECTIONS) this.#faults[way].cutAfterBytes = Infinity;
      connection.sockets.forEach((socket) => socket.destroy());
    };
    const connection: Connection = {
      sockets: [client, server],
      session: new SessionSniffer(server),
      links: {
        toServer: new FaultLink(client, server, this.#faults.toServer, cut),
        toClient: new FaultLink(server, client, this.#faults.toClient, cut),
      },
    };
    this.#connections.add(connection);
    for (const socket of connection.sockets) {
      socket.on('error', () => {});
      socket.on('close', () => {
        if (connection.sockets.every(({ destroyed }) => destroyed)) this.#connections.delete(connection);
      });
    }
  }
}
