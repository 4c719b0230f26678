import type { Random } from '../../robustness/random.js';
import type { SimProcess } from '../world/sim-process.js';
import { Direction } from './direction.js';
import type { Arrivals, Segment } from './direction.js';
import { Link } from './link.js';
import type { Delays } from './link.js';
import { SimSocket, socketError } from './sim-socket.js';

export interface Listener {
  readonly process: SimProcess;
  accept(socket: SimSocket): void;
}

/** The two links between one process and one port. */
export interface Path {
  readonly there: Link;
  readonly back: Link;
}

/** Called with every segment that arrives. */
export type Observer = (from: string, to: string, segment: Segment) => void;

const FIRST_EPHEMERAL_PORT = 32_768;

/** A TCP network in memory. Each pair of a client process and a server's port has its own path, which can be broken. */
export class Network {
  readonly #arrivals: Arrivals;
  readonly #random: (label: string) => Random;
  readonly #delays: Delays;
  readonly #observe: Observer;
  readonly #listeners = new Map<number, Listener>();
  readonly #paths = new Map<string, Path>();
  readonly #connections = new Set<SimConnection>();
  #ports = FIRST_EPHEMERAL_PORT;
  #opened = 0;

  constructor(arrivals: Arrivals, random: (label: string) => Random, delays: Delays, observe: Observer) {
    this.#arrivals = arrivals;
    this.#random = random;
    this.#delays = delays;
    this.#observe = observe;
  }

  /** The number of connections that were opened. */
  get opened(): number {
    return this.#opened;
  }

  nextPort(): number {
    return this.#ports++;
  }

  listen(port: number, listener: Listener): void {
    this.#listeners.set(port, listener);
  }

  close(port: number): void {
    this.#listeners.delete(port);
  }

  path(host: string, port: number): Path {
    const name = `${host}>${port}`;
    let path = this.#paths.get(name);
    if (!path) {
      const link = (way: string) => new Link(this.#delays, this.#random(`link/${name}/${way}`));
      this.#paths.set(name, (path = { there: link('there'), back: link('back') }));
    }
    return path;
  }

  /** All paths so far, by name. */
  get paths(): ReadonlyMap<string, Path> {
    return this.#paths;
  }

  /** The connections between a machine and a port, or all connections of either. */
  connections(host?: string, port?: number): SimConnection[] {
    return [...this.#connections].filter(
      (one) => (host === undefined || one.host === host) && (port === undefined || one.port === port),
    );
  }

  /** `host` is the machine's name, which outlives its process. */
  connect(process: SimProcess, host: string, port: number): SimSocket {
    this.#opened++;
    const socket = new SimSocket();
    socket.connecting = true;
    const { there, back } = this.path(host, port);
    const connection = new SimConnection(
      this.#arrivals,
      { host, port, there, back, observe: this.#observe },
      process,
      socket,
      () => this.#connections.delete(connection),
    );
    this.#connections.add(connection);
    connection.open(
      () => this.#listeners.get(port),
      () => this.nextPort(),
    );
    return socket;
  }

  /** Ends all connections of a dead process, as its kernel does. With `silently`, the machine has died with it. */
  processDied(process: SimProcess, silently: boolean): void {
    // A copy, because connections that end are removed from the set meanwhile.
    this.connections().forEach((connection) => connection.sideDied(process, silently));
  }
}

interface Between {
  readonly host: string;
  readonly port: number;
  readonly there: Link;
  readonly back: Link;
  readonly observe: Observer;
}

interface Side {
  readonly process: SimProcess;
  readonly socket: SimSocket;
}

/** One TCP connection. Either side may be gone while the other does not know yet. */
export class SimConnection {
  readonly host: string;
  readonly port: number;
  readonly #between: Between;
  readonly #toServer: Direction;
  readonly #toClient: Direction;
  readonly #gone: () => void;
  #client: Side | undefined;
  #server: Side | undefined;
  /** Whether the server does not know the connection yet. */
  #isOpening = true;
  #isRefused = false;

  constructor(arrivals: Arrivals, between: Between, process: SimProcess, socket: SimSocket, gone: () => void) {
    this.host = between.host;
    this.port = between.port;
    this.#between = between;
    this.#gone = gone;
    this.#client = { process, socket };
    const { host, port, there, back, observe } = between;
    const server = `${port}`;
    this.#toServer = new Direction(arrivals, { from: host, to: server, link: there }, (segment) => {
      observe(host, server, segment);
      this.#arrive(this.#server, this.#toClient, segment);
    });
    this.#toClient = new Direction(arrivals, { from: server, to: host, link: back }, (segment) => {
      observe(server, host, segment);
      this.#arrive(this.#client, this.#toServer, segment);
    });
    there.add(this.#toServer);
    back.add(this.#toClient);
  }

  /** The three-way handshake: SYN there, SYN-ACK or RST back. */
  open(listenerOf: () => Listener | undefined, nextPort: () => number): void {
    const client = this.#client as Side;
    client.socket.localPort = nextPort();
    client.socket.remotePort = this.port;
    client.socket.remoteAddress = '127.0.0.1';
    this.#onSyn = () => {
      this.#isOpening = false;
      const listener = listenerOf();
      if (!listener || listener.process.isDead) {
        this.#isRefused = true;
        return this.#toClient.send({ kind: 'rst' });
      }
      const socket = new SimSocket();
      socket.remoteAddress = '127.0.0.1';
      socket.remotePort = client.socket.localPort;
      socket.localPort = this.port;
      this.#server = { process: listener.process, socket };
      socket.established(this.#line(this.#toClient, 'server'));
      this.#toClient.send(SYN_ACK);
      listener.process.deliver(() => {
        if (!socket.destroyed) listener.accept(socket);
      });
    };
    client.socket.once('close', () => this.#left('client'));
    this.#toServer.send(SYN);
  }

  /** Notifies both sides that the connection is gone. Messages under way are lost. */
  reset(): void {
    this.#break();
    for (const side of [this.#client, this.#server]) side?.process.deliver(() => side.socket.receive({ kind: 'rst' }));
  }

  /** Cuts both directions without notifying either side: the connection is half-open on both sides. */
  vanish(): void {
    this.#break();
  }

  /** Resets the client's side. Data that it has sent still arrives, and nothing comes back. */
  abandon(): void {
    this.#toClient.cut();
    const client = this.#client;
    client?.process.deliver(() => client.socket.receive({ kind: 'rst' }));
  }

  sideDied(process: SimProcess, silently: boolean): void {
    for (const [which, side, out] of [
      ['client', this.#client, this.#toServer],
      ['server', this.#server, this.#toClient],
    ] as const) {
      if (side?.process !== process) continue;
      if (!silently) out.send({ kind: 'rst' });
      this.#left(which);
    }
  }

  #onSyn: () => void = () => {};

  #arrive(to: Side | undefined, reply: Direction, segment: Segment): void {
    if (segment === SYN) return this.#onSyn();
    if (segment === SYN_ACK) return this.#established();
    // A side that has closed does not know the connection any more. Data for it is answered with a reset.
    if (!to) return segment.kind === 'rst' ? undefined : reply.send({ kind: 'rst' });
    if (this.#isRefused) {
      const error = socketError('ECONNREFUSED', 'connect');
      return to.process.deliver(() => void to.socket.destroy(error));
    }
    to.process.deliver(() => to.socket.receive(segment));
  }

  #established(): void {
    const client = this.#client;
    // The client has closed meanwhile.
    if (!client) return this.#toServer.send({ kind: 'rst' });
    client.process.deliver(() => {
      if (client.socket.destroyed) return;
      client.socket.connecting = false;
      client.socket.established(this.#line(this.#toServer, 'client'));
      client.socket.emit('connect');
    });
  }

  #line(out: Direction, which: 'client' | 'server') {
    const { there, back } = this.#between;
    const link = which === 'client' ? there : back;
    return { out, closed: () => this.#left(which), drawCut: (length: number) => link.drawCut(length) };
  }

  #left(which: 'client' | 'server'): void {
    if (which === 'client') this.#client = undefined;
    else this.#server = undefined;
    this.#endIfLeft();
  }

  #endIfLeft(): void {
    if (this.#client || this.#server || this.#isOpening) return;
    this.#between.there.remove(this.#toServer);
    this.#between.back.remove(this.#toClient);
    this.#gone();
  }

  #break(): void {
    this.#isOpening = false;
    this.#toServer.cut();
    this.#toClient.cut();
    this.#endIfLeft();
  }
}

const SYN: Segment = { kind: 'bytes', bytes: Buffer.alloc(0) };
const SYN_ACK: Segment = { kind: 'bytes', bytes: Buffer.alloc(0) };
