import { FaultProxy } from './faults/fault-proxy.js';
import { PeerGate } from './peer-gate.js';

/** What the servers of an ensemble listen on for each other. */
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

// A leader listens for its followers a few milliseconds after they were told of it, or before.
const NEW_LEADER_MS = 1_000;

/** {long protocolVersion; long serverId; int length}, and as many bytes of addresses behind it */
const GREETING_HEADER_BYTES = 20;

/** Between the servers of an ensemble: each reaches each of its peers through proxies of its own, which can be cut. */
export class EnsembleNetwork {
  readonly #links: readonly Link[];
  readonly #gates: readonly Gates[];

  private constructor(links: readonly Link[], gates: readonly Gates[]) {
    this.#links = links;
    this.#gates = gates;
  }

  /** @param servers what each server really listens on; servers are known by their place in it */
  static async open(servers: readonly PeerPorts[]): Promise<EnsembleNetwork> {
    const gates = await Promise.all(servers.map(openGates));
    const links = gates.flatMap((gate, to) =>
      gates.flatMap((_, from) => (from === to ? [] : openLink(from, to, gate))),
    );
    return new EnsembleNetwork(await Promise.all(links), gates);
  }

  /** What one server calls to reach another. */
  route(from: number, to: number): PeerPorts {
    const link = this.#links.find((one) => one.from === from && one.to === to);
    if (!link) throw new RangeError(`no link from server ${from} to server ${to}`);
    return { quorum: link.quorum.port, election: link.election.port };
  }

  /** Nothing passes any more between those in `group` and the others, either way, and nobody is told. */
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
 * How one server greets another on its election port. Who calls a peer with a greater number is hung up on and called
 * back, at the address that it gave: past every proxy. So its greeting is passed on as servers said it before they had
 * addresses to give, the number alone, and the peer calls back where its own configuration says.
 */
function withoutAddress(heard: Buffer): Buffer | undefined {
  if (heard.length < GREETING_HEADER_BYTES) return undefined;
  const end = GREETING_HEADER_BYTES + heard.readInt32BE(GREETING_HEADER_BYTES - 4);
  return heard.length < end ? undefined : Buffer.concat([heard.subarray(8, 16), heard.subarray(end)]);
}

function both<T>({ quorum, election }: { readonly quorum: T; readonly election: T }): T[] {
  return [quorum, election];
}
