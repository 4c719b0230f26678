import { Random } from '../../robustness/random.js';
import type { SimProcess } from '../world/sim-process.js';
import { someProcess } from '../world/some-process.js';
import { World } from '../world/world.js';
import type { Delays } from './link.js';
import type { Segment } from './direction.js';
import { Network } from './network.js';
import type { Path } from './network.js';
import type { SimSocket } from './sim-socket.js';

const MS = 1_000;
const DELAYS: Delays = { meanUs: 300, slowShare: 0, slowUs: 0 };

export const HOST = 'client';
export const PORT = 2_181;

/** Records the events of a socket, each as a word. */
export function listenTo(socket: Pick<SimSocket, 'on'>, events: string[]): void {
  socket.on('connect', () => events.push('connect'));
  socket.on('data', (bytes: Buffer) => events.push(`data ${bytes.toString()}`));
  socket.on('end', () => events.push('end'));
  socket.on('finish', () => events.push('finish'));
  socket.on('error', (error: NodeJS.ErrnoException) => events.push(`error ${error.code}`));
  socket.on('close', () => events.push('close'));
}

/** A process that connects and one that listens, with the events of their sockets. */
export class SomeNetwork {
  readonly world = new World();
  readonly client: SimProcess;
  readonly server: SimProcess;
  readonly network: Network;
  /** The segments that arrived at either side. */
  readonly arrived: { readonly from: string; readonly segment: Segment }[] = [];
  readonly atClient: string[] = [];
  readonly atServer: string[] = [];
  readonly accepted: SimSocket[] = [];

  constructor(seed = 1, delays: Delays = DELAYS) {
    this.client = someProcess(this.world, 'client', { seed });
    this.server = someProcess(this.world, 'server', { seed });
    const random = (label: string) => new Random(`${seed}/${label}`);
    this.network = new Network(this.world, random, delays, (from, _to, segment) =>
      this.arrived.push({ from, segment }),
    );
  }

  get path(): Path {
    return this.network.path(HOST, PORT);
  }

  get connection() {
    const [connection] = this.network.connections();
    if (!connection) throw new Error('there is no connection');
    return connection;
  }

  listen(accept: (socket: SimSocket) => void = () => {}): void {
    this.network.listen(PORT, {
      process: this.server,
      accept: (socket) => {
        listenTo(socket, this.atServer);
        this.accepted.push(socket);
        accept(socket);
      },
    });
  }

  /** Begins to connect. Its events are recorded in `atClient`. */
  connect(): SimSocket {
    const socket = this.network.connect(this.client, HOST, PORT);
    listenTo(socket, this.atClient);
    return socket;
  }

  /** Runs an action as a callback of the client's process, and lets so much time pass. */
  async atClientDo(action: () => void, ms = 100): Promise<void> {
    this.client.deliver(action);
    await this.pass(ms);
  }

  async atServerDo(action: () => void, ms = 100): Promise<void> {
    this.server.deliver(action);
    await this.pass(ms);
  }

  pass(ms: number): Promise<void> {
    return this.world.run(this.world.now + ms * MS);
  }

  /** An established connection. */
  async connected(): Promise<SimSocket> {
    if (this.accepted.length === 0) this.listen();
    let socket: SimSocket | undefined;
    await this.atClientDo(() => (socket = this.connect()));
    this.atClient.length = 0;
    return socket!;
  }
}
