import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { FaultLink, noFaults } from './fault-link.js';
import type { Direction, Faults } from './fault-link.js';

interface Connection {
  readonly sockets: readonly [client: Socket, server: Socket];
  readonly links: Readonly<Record<Direction, FaultLink>>;
}

/** The address of the server behind a proxy. */
export interface ProxyTarget {
  /** The host name or address. */
  readonly host: string;
  /** The port. */
  readonly port: number;
}

const DIRECTIONS: readonly Direction[] = ['toServer', 'toClient'];

/**
 * A TCP proxy on 127.0.0.1 between an application and one server of any kind, for simulating network faults:
 * - bytes that are late, pass one way only, do not arrive, or are cut in the middle of a message
 * - replies that are lost
 * - connections that are refused or closed
 *
 * Faults apply to all connections, later ones included, until `heal()`.
 */
export class FaultProxy implements AsyncDisposable {
  /** The port that the proxy listens on, on 127.0.0.1. */
  readonly port: number;
  readonly #server: Server;
  readonly #target: ProxyTarget;
  readonly #connections = new Set<Connection>();
  readonly #faults: Readonly<Record<Direction, Faults>> = { toServer: noFaults(), toClient: noFaults() };
  #refuses = false;
  /** Resolves when new connections are accepted again. */
  #held: Promise<unknown> | undefined;
  #accepted = 0;

  protected constructor(server: Server, target: ProxyTarget) {
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
    return new FaultProxy(await listening(), targetOf(target));
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

  /**
   * Holds all bytes back without closing connections: the link is half open. What was sent arrives after `heal()`.
   * @param since bytes that were sent before this time still arrive. By `performance.now()`. Default: all are held back
   */
  blackHole(direction?: Direction, since = -Infinity): void {
    this.#change({ blackHoleSince: since }, direction);
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

  /**
   * Loses the replies of the server: it receives and executes requests, and its bytes never arrive. `heal()` closes the
   * connections that have lost some, because a stream with a gap cannot be read. Replies that were held back are lost
   * as well.
   */
  swallowReplies(): void {
    this.#change({ isLossy: true, blackHoleSince: Infinity }, 'toClient');
  }

  /** Whether no bytes are held back at this moment: none are late, throttled, or in a black hole. */
  get isQuiet(): boolean {
    return [...this.#connections].every(({ links }) => DIRECTIONS.every((way) => links[way].isQuiet));
  }

  /** Whether a connection that is open has lost replies. */
  get hasLostReplies(): boolean {
    return [...this.#connections].some(({ links }) => links.toClient.hasGap);
  }

  /** Removes all faults. Connections are kept, except those that have lost replies. */
  heal(): void {
    this.#refuses = false;
    for (const { links, sockets } of this.#connections) {
      if (links.toClient.hasGap) sockets.forEach((socket) => socket.resetAndDestroy());
    }
    this.#change(noFaults());
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

  /** Holds new connections back until the work has ended. */
  protected async holdingNewOnes(work: () => Promise<unknown>): Promise<void> {
    const done = work();
    this.#held = done.catch(() => {});
    await done.finally(() => (this.#held = undefined));
  }

  /** Called with each connection to the server, before any byte has passed. */
  protected connected(_server: Socket): void {}

  #change(change: Partial<Faults>, direction?: Direction): void {
    for (const way of direction ? [direction] : DIRECTIONS) {
      Object.assign(this.#faults[way], change);
      this.#connections.forEach(({ links }) => links[way].refresh());
    }
  }

  #accept(client: Socket): void {
    if (this.#held) {
      client.on('error', () => {});
      return void this.#held.then(() => this.#accept(client));
    }
    if (this.#refuses) return void client.resetAndDestroy();
    this.#accepted++;
    const server = connect({ ...this.#target, noDelay: true });
    const cut = () => {
      for (const way of DIRECTIONS) this.#faults[way].cutAfterBytes = Infinity;
      connection.sockets.forEach((socket) => socket.destroy());
    };
    const connection: Connection = {
      sockets: [client, server],
      links: {
        toServer: new FaultLink(client, server, this.#faults.toServer, cut),
        toClient: new FaultLink(server, client, this.#faults.toClient, cut),
      },
    };
    this.#connections.add(connection);
    this.connected(server);
    for (const socket of connection.sockets) {
      socket.on('error', () => {});
      socket.on('close', () => {
        if (connection.sockets.every(({ destroyed }) => destroyed)) this.#connections.delete(connection);
      });
    }
  }
}

/** Returns a server that listens on a free port of 127.0.0.1. */
export async function listening(): Promise<Server> {
  const server = createServer({ noDelay: true });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

/** @param target `host:port`, or a port on 127.0.0.1 */
export function targetOf(target: string | number): ProxyTarget {
  const [host = '', port = ''] = typeof target === 'number' ? ['127.0.0.1', target] : target.split(':');
  return { host, port: Number(port) };
}
