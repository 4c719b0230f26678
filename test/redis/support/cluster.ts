import { vi } from 'vitest';
import { RedisServer } from '../../../lib/testing/index.js';
import { SLOTS, slotOf } from '../../../lib/redis/client/hash-slot.js';
import { unusedPort } from '../../support/unused-port.js';
import { ask } from './ask.js';

const PRIMARIES = 3;
const NODE_TIMEOUT_MS = 2_000;
const LONG = { timeout: 60_000, interval: 50 };

interface ClusterNode {
  readonly server: RedisServer;
  readonly id: string;
}

/** Three primaries on loopback, each with a third of the slots, and on request a replica for each. */
export class TestCluster {
  readonly #primaries: readonly ClusterNode[];
  readonly #replicas: readonly ClusterNode[];

  private constructor(primaries: readonly ClusterNode[], replicas: readonly ClusterNode[]) {
    this.#primaries = primaries;
    this.#replicas = replicas;
  }

  static async start({ replicas = false } = {}): Promise<TestCluster> {
    const nodes: ClusterNode[] = [];
    for (let node = 0; node < (replicas ? 2 : 1) * PRIMARIES; node++) nodes.push(await startNode(node));
    const cluster = new TestCluster(nodes.slice(0, PRIMARIES), nodes.slice(PRIMARIES));
    await cluster.#form();
    return cluster;
  }

  /** For the option of `redis()`. */
  get addresses(): readonly { readonly host: string; readonly port: number }[] {
    return this.#primaries.map(({ server }) => ({ host: '127.0.0.1', port: server.port }));
  }

  /** The port of the node that serves a key, as the nodes say that answer. */
  async portOf(key: string): Promise<number> {
    const slot = slotOf(key);
    const ranges = (await this.#anyone('CLUSTER', 'SLOTS')) as unknown as [number, number, [string, number]][];
    const [, , [, port]] = ranges.find(([first, last]) => first <= slot && slot <= last) ?? [0, 0, ['', 0]];
    return port;
  }

  /** The server that serves a key at the start. */
  async serverOf(key: string): Promise<RedisServer> {
    const port = await this.portOf(key);
    return nodeAt([...this.#primaries, ...this.#replicas], port).server;
  }

  /**
   * Moves the slot of a key to another primary, one key after the other.
   * @param onHalf called when half of the keys have moved
   */
  async move(key: string, onHalf: () => Promise<void> = async () => {}): Promise<void> {
    const slot = slotOf(key);
    const from = nodeAt(this.#primaries, await this.portOf(key));
    const to = this.#primaries.find((node) => node !== from) as ClusterNode;
    await ask(to.server.port, 'CLUSTER', 'SETSLOT', slot, 'IMPORTING', from.id);
    await ask(from.server.port, 'CLUSTER', 'SETSLOT', slot, 'MIGRATING', to.id);
    const moveKeys = async (most: number): Promise<number> => {
      const keys = await ask(from.server.port, 'CLUSTER', 'GETKEYSINSLOT', slot, most);
      const target = ['127.0.0.1', to.server.port, '', 0, 5_000] as const;
      if (keys.length > 0) await ask(from.server.port, 'MIGRATE', ...target, 'KEYS', ...keys);
      return keys.length;
    };
    const [count] = (await ask(from.server.port, 'CLUSTER', 'COUNTKEYSINSLOT', slot)) as unknown as [number];
    await moveKeys(Math.ceil(count / 2));
    await onHalf();
    while ((await moveKeys(100)) > 0);
    for (const { server } of [to, from]) await ask(server.port, 'CLUSTER', 'SETSLOT', slot, 'NODE', to.id);
  }

  /** Resolves when all nodes that run serve all slots. */
  async whole(): Promise<void> {
    const running = [...this.#primaries, ...this.#replicas].filter(({ server }) => server.pid !== undefined);
    for (const { server } of running) {
      await shows(() => stateOf(server.port), 'cluster_state:ok');
    }
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#primaries, ...this.#replicas].map(({ server }) => server.stop()));
  }

  async #form(): Promise<void> {
    const [first, ...others] = [...this.#primaries, ...this.#replicas];
    for (const [place, { server }] of this.#primaries.entries()) {
      await ask(server.port, 'CLUSTER', 'SET-CONFIG-EPOCH', place + 1);
      const [from, to] = [place, place + 1].map((edge) => Math.floor((edge * SLOTS) / PRIMARIES));
      await ask(server.port, 'CLUSTER', 'ADDSLOTSRANGE', from ?? 0, (to ?? 0) - 1);
    }
    for (const { server } of others) {
      await ask(server.port, 'CLUSTER', 'MEET', '127.0.0.1', first?.server.port ?? 0, await busOf(first));
    }
    const count = `cluster_known_nodes:${this.#primaries.length + this.#replicas.length}`;
    await this.whole();
    for (const { server } of [first as ClusterNode, ...others]) {
      await shows(() => stateOf(server.port), count);
    }
    for (const [place, { server }] of this.#replicas.entries()) {
      const primary = this.#primaries[place] as ClusterNode;
      await ask(server.port, 'CLUSTER', 'REPLICATE', primary.id);
      await shows(() => server.ask('INFO', 'replication'), 'master_link_status:up');
    }
  }

  async #anyone(name: string, ...words: string[]): Promise<readonly string[]> {
    for (const { server } of [...this.#primaries, ...this.#replicas]) {
      const answer = await ask(server.port, name, ...words).catch(() => undefined);
      if (answer) return answer;
    }
    throw new Error('no node of the cluster answers');
  }
}

async function startNode(place: number): Promise<ClusterNode> {
  const server = await RedisServer.start({
    settings: {
      'cluster-enabled': 'yes',
      'cluster-config-file': `nodes-${place}.conf`,
      'cluster-node-timeout': NODE_TIMEOUT_MS,
      // The default is 10 000 more than the port, which may be more than there are.
      'cluster-port': await unusedPort(),
      'repl-diskless-sync-delay': 0,
    },
  });
  const [id = ''] = await ask(server.port, 'CLUSTER', 'MYID');
  return { server, id };
}

function nodeAt(nodes: readonly ClusterNode[], port: number): ClusterNode {
  const found = nodes.find(({ server }) => server.port === port);
  if (!found) throw new Error(`no node has port ${port}`);
  return found;
}

async function busOf(node: ClusterNode | undefined): Promise<number> {
  const [, port = '0'] = await ask(node?.server.port ?? 0, 'CONFIG', 'GET', 'cluster-port');
  return Number(port);
}

async function stateOf(port: number): Promise<string> {
  return (await ask(port, 'CLUSTER', 'INFO').catch(() => [])).join();
}

/** Resolves when the answer contains the text. `expect.poll` is for tests only. */
async function shows(answer: () => Promise<string>, text: string): Promise<void> {
  await vi.waitUntil(async () => (await answer()).includes(text), LONG);
}
