import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { EtcdServer } from '../../../lib/testing/index.js';
import { startMembers } from './members.js';

/** A connection from one member to another. */
interface Link {
  readonly caller: Socket;
  readonly to: number;
  readonly sockets: Set<Socket>;
  isHeld: boolean;
}

/**
 * A cluster of three whose members reach each other through gates, so that one of them can be cut off from the others
 * while clients reach all of them. The gates find out by /proc which process a connection comes from.
 */
export class PeerNetwork {
  members: readonly EtcdServer[] = [];
  readonly #gates: Server[] = [];
  readonly #links = new Set<Link>();
  #isolated: EtcdServer | undefined;

  static async start(): Promise<PeerNetwork> {
    const network = new PeerNetwork();
    network.members = await startMembers({ reachedBy: ({ place, peerPort }) => network.#open(place, peerPort) });
    return network;
  }

  /** Holds back all bytes between a member and the others, until the function that it returns is called. */
  isolate(member: EtcdServer): () => void {
    this.#isolated = member;
    for (const link of this.#links) this.#holdIfCut(link);
    return () => {
      this.#isolated = undefined;
      // The members open new connections.
      for (const { isHeld, sockets } of this.#links) if (isHeld) sockets.forEach((socket) => socket.destroy());
    };
  }

  async stop(): Promise<void> {
    await Promise.all(this.members.map((member) => member.stop()));
    for (const { sockets } of this.#links) sockets.forEach((socket) => socket.destroy());
    await Promise.all(this.#gates.map((gate) => new Promise((resolve) => gate.close(resolve))));
  }

  /** Opens the gate of a member. Resolves to its port. */
  async #open(to: number, peerPort: number): Promise<number> {
    const gate = createServer({ noDelay: true }, (caller) => this.#accept(caller, to, peerPort));
    this.#gates.push(gate);
    await new Promise<void>((resolve) => gate.listen(0, '127.0.0.1', resolve));
    return (gate.address() as AddressInfo).port;
  }

  #accept(caller: Socket, to: number, peerPort: number): void {
    const link: Link = { caller, to, sockets: new Set([caller]), isHeld: false };
    this.#links.add(link);
    caller.on('error', () => {}).once('close', () => this.#links.delete(link));
    if (this.#holdIfCut(link)) return;
    const server = connect({ port: peerPort, host: '127.0.0.1', noDelay: true });
    link.sockets.add(server);
    server.on('error', () => {}).once('close', () => caller.destroy());
    caller.once('close', () => server.destroy());
    caller.pipe(server);
    server.pipe(caller);
  }

  #holdIfCut(link: Link): boolean {
    const isolated = this.#isolated;
    if (!isolated) return false;
    const isCut = this.members[link.to] === isolated || isFrom(link.caller, isolated);
    if (isCut) {
      link.isHeld = true;
      link.sockets.forEach((socket) => socket.unpipe().pause());
    }
    return isCut;
  }
}

/** Whether the other end of a connection belongs to a server's process. */
function isFrom({ remotePort = 0 }: Socket, { pid }: EtcdServer): boolean {
  const port = remotePort.toString(16).toUpperCase().padStart(4, '0');
  // "  0: 0100007F:1F90 0100007F:C350 01 …": the local address, the other one, …, and in the tenth column the inode.
  const rows = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((row) => row.trim().split(/\s+/));
  const inode = rows.find(([, local]) => local === `0100007F:${port}`)?.[9];
  return readdirSync(`/proc/${pid}/fd`).some((fd) => linkOf(`/proc/${pid}/fd/${fd}`) === `socket:[${inode}]`);
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    // It was closed meanwhile.
    return undefined;
  }
}
