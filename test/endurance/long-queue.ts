/** Serves a long wait queue on one key. Measures its order and what a hand-over costs the servers. */
import { randomUUID } from 'node:crypto';
import type { Lease } from '../../lib/contract/lease.js';
import { ZooKeeperServer } from '../../lib/testing/index.js';
import { NodeZooKeeperClient } from '../../lib/zookeeper/client/node-zookeeper-client.js';
import { eventually } from '../support/eventually.js';
import { closeService, plainService } from '../support/plain-service.js';

export interface LongQueueOptions {
  readonly waiters: number;
  readonly onProgress?: (phase: 'queued' | 'served', count: number) => void;
}

export interface LongQueueOutcome {
  readonly served: number;
  /** The number of waiters that were served before one that was queued earlier. */
  readonly outOfOrder: number;
  /** Events of deleted znodes that the server sent while the queue was served. */
  readonly notifications: number;
  /** The number of times that the wait queue was listed meanwhile. */
  readonly lists: number;
  readonly watchesLeft: number;
}

const SERVICES = 4;
// One waiter of each process at a time: at most two in a row are of one process. More of them would leave together, and
// the others would list what is left.
const AT_ONCE = SERVICES;

export async function serveLongQueue({ waiters, onProgress }: LongQueueOptions): Promise<LongQueueOutcome> {
  const server = await ZooKeeperServer.start();
  const basePath = `/long-queue-${randomUUID()}`;
  const options = { connectString: server.connectString, basePath, localLine: false, waitMs: Infinity };
  const services = await Promise.all(Array.from({ length: SERVICES }, () => plainService(options)));
  const lists = countLists();
  try {
    const holder = await services[0]!.acquire('k');
    const tokens: bigint[] = [];
    const serve = (lease: Lease) => {
      tokens.push(lease.fencingToken);
      onProgress?.('served', tokens.length);
    };
    const waits: Promise<void>[] = [];
    while (waits.length < waiters) {
      const count = Math.min(AT_ONCE, waiters - waits.length);
      for (let place = 0; place < count; place++) waits.push(services[waits.length % SERVICES]!.using('k', serve));
      await eventually(async () => (await ephemerals(server)) > waits.length, 'all have queued');
      onProgress?.('queued', waits.length);
    }
    const before = { notifications: await deletionsTold(server), lists: lists.count };
    await holder.release();
    await Promise.all(waits);
    return {
      served: tokens.length,
      outOfOrder: tokens.filter((token, place) => token < (tokens[place - 1] ?? 0n)).length,
      notifications: (await deletionsTold(server)) - before.notifications,
      lists: lists.count - before.lists,
      watchesLeft: await watchesLeft(server),
    };
  } finally {
    lists.restore();
    await Promise.all(services.map(closeService));
    await server.stop();
  }
}

async function deletionsTold(server: ZooKeeperServer): Promise<number> {
  return Number(/^zk_sum_node_deleted_watch_count\s+(\d+)/m.exec(await server.ask('mntr'))?.[1]);
}

async function ephemerals(server: ZooKeeperServer): Promise<number> {
  return Number(/^zk_ephemerals_count\s+(\d+)/m.exec(await server.ask('mntr'))?.[1]);
}

async function watchesLeft(server: ZooKeeperServer): Promise<number> {
  return Number(/Total watches:(\d+)/.exec(await server.ask('wchs'))?.[1]);
}

/** Counts the requests of this process that list children. */
function countLists() {
  const { prototype } = NodeZooKeeperClient;
  const { children } = prototype;
  const lists = { count: 0, restore: () => void (prototype.children = children) };
  prototype.children = function counted(path) {
    lists.count++;
    return children.call(this, path);
  };
  return lists;
}
