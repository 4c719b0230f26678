import { FaultProxy } from './faults/fault-proxy.js';
import { PeerGate } from './peer-gate.js';

/** The ports on which a server of an ensemble listens for its peers. */
export interface PeerPorts {
  readonly quorum: number;
  readonly election: number;
}

interface Link {
  readonly from: number;
  readonly to: number;
  readonly quorum: FaultProxy;
  readonly election: FaultProxy;
}

interface Gates {
  readonly quorum: PeerGate;
  readonly election: PeerGate;
}

// A leader starts to listen for its followers a few milliseconds before or after they are notified of it.
const NEW_LEADER_MS = 1_000;

/** {long protocolVersion; long serverId; int length}, followed by `length` bytes of addresses */
const GREETING_HEADER_BYTES = 20;

/**
 * The network between the servers of an ensemble. Each server reaches each peer through proxies of its own, which can
 * be cut.
 */
export class EnsembleNetwork {
  readonly #links: readonly Link[];
  readonly #gates: readonly Gates[];

  private constructor(links: readonly Link[], gates: readonly Gates[]) {
    this.#links = links;
    this.#gates = gates;
  }

  /** @param servers the ports that each server really listens on; a server is identified by its index in this array */
  static async open(servers: readonly PeerPorts[]): Promise<EnsembleNetwork> {
    const gates = await Promise.all(servers.map(openGates));
    const links = gates.flatMap((gate, to) =>
      gates.flatMap((_, from) => (from === to ? [] : openLink(from, to, gate))),
    );
    return new EnsembleNetwork(await Promise.all(links), gates);
  }

  /** The ports that one server connects to in order to reach another. */
  route(from: number, to: number): PeerPorts {
    const link = this.#links.find((one) => one.from === from && one.to === to);
    if (!link) throw new RangeError(`no link from server ${from} to server ${to}`);
    return { quorum: link.quorum.port, election: link.election.port };
  }

  /** Drops all traffic between the servers in `group` and the others, in both directions. No connection is closed. */
  cut(group: ReadonlySet<number>): void {
    const between = this.#links.filter(({ from, to }) => group.has(from) !== group.has(to));
    between.flatMap(both).forEach((proxy) => proxy.blackHole());
  }

  heal(): void {
    this.#links.flatMap(both).forEach((proxy) => proxy.heal());
  }

  async close(): Promise<void> {
    const open = [...this.#links.flatMap(both), ...this.#gates.flatMap(both)];
    await Promise.all(open.map((one) => one.close()));
  }
}

async function openGates({ quorum, election }: PeerPorts): Promise<Gates> {
  return {
    quorum: await PeerGate.open(quorum, { patienceMs: NEW_LEADER_MS }),
    election: await PeerGate.open(election, { patienceMs: 0, firstWords: withoutAddress }),
  };
}

async function openLink(from: number, to: number, { quorum, election }: Gates): Promise<Link> {
  return { from, to, quorum: await FaultProxy.open(quorum.port), election: await FaultProxy.open(election.port) };
}

/**
 * Reduces a server's greeting on an election port to the older format without addresses: the server's number alone.
 * A server that calls a peer with a greater number is disconnected and called back. The peer uses the address in the
 * greeting, which would bypass every proxy. Without one, it uses the address in its own configuration.
 */
function withoutAddress(heard: Buffer): Buffer | undefined {
  if (heard.length < GREETING_HEADER_BYTES) return undefined;
  const end = GREETING_HEADER_BYTES + heard.readInt32BE(GREETING_HEADER_BYTES - 4);
  return heard.length < end ? undefined : Buffer.concat([heard.subarray(8, 16), heard.subarray(end)]);
}

function both<T>({ quorum, election }: { readonly quorum: T; readonly election: T }): T[] {
  return [quorum, election];
}
