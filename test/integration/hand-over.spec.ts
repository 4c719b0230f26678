import { beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { ZooKeeperServer } from '../../lib/testing/index.js';
import { NodeZooKeeperClient } from '../../lib/zookeeper/client/node-zookeeper-client.js';
import { freshBasePath } from '../support/base-path.js';
import { eventually } from '../support/eventually.js';
import { openService } from '../support/services.js';
import { openClient, untilContenders } from '../support/znodes.js';

const WAITERS = 200;
const KEYS = 64;
// The other packets of a service: heartbeats, and requests for the server's statistics.
const OTHER_PACKETS = 16;
// The longest timeout that the server grants, because a busy machine is slow and heartbeats are counted as well.
const sessionTimeoutMs = 40_000;

let server: ZooKeeperServer;

beforeAll(async () => {
  server = await ZooKeeperServer.start({ tickTimeMs: sessionTimeoutMs / 20 });
  return () => server.stop();
});

async function figure(pattern: RegExp): Promise<number> {
  const answer = await server.ask('srvr');
  return Number(pattern.exec(answer)?.[1] ?? NaN);
}

const packetsReceived = () => figure(/^Received: (\d+)/m);

describe('a wait queue of two services and 200 waiters', () => {
  let lists: { readonly mock: { readonly calls: readonly unknown[] } };
  let reads: typeof lists;

  beforeEach(() => {
    lists = vi.spyOn(NodeZooKeeperClient.prototype, 'children');
    reads = vi.spyOn(NodeZooKeeperClient.prototype, 'read');
    onTestFinished(() => void vi.restoreAllMocks());
  });

  it('hands over in order, without lists, with at most three requests each', async () => {
    const basePath = freshBasePath();
    const options = { connectString: server.connectString, basePath, sessionTimeoutMs, waitMs: Infinity };
    const services = await Promise.all([openService(options), openService(options)]);
    const client = await openClient(server.connectString);
    const [one] = services;
    const holder = await one.acquire('k');
    const order: number[] = [];
    const waits: Promise<void>[] = [];
    for (let place = 0; place < WAITERS; place++) {
      const service = services[place % 2] ?? expect.unreachable();
      waits.push(service.using('k', () => void order.push(place)));
      await untilContenders(client, `${basePath}/k`, place + 2);
    }
    await untilContenders(client, `${basePath}/k`, WAITERS + 1);
    const before = { lists: lists.mock.calls.length, reads: reads.mock.calls.length };
    const packets = await packetsReceived();

    await holder.release();
    await Promise.all(waits);

    expect(order).toEqual(Array.from({ length: WAITERS }, (_, place) => place));
    expect(lists.mock.calls.length - before.lists).toBeLessThanOrEqual(2);
    expect(reads.mock.calls.length - before.reads).toBeLessThanOrEqual(WAITERS);
    expect((await packetsReceived()) - packets).toBeLessThanOrEqual(3 * WAITERS + OTHER_PACKETS);
  });

  it('needs two requests each with one service: a watch and the release', async () => {
    const basePath = freshBasePath();
    const options = { connectString: server.connectString, basePath, sessionTimeoutMs, waitMs: Infinity };
    const service = await openService(options);
    const client = await openClient(server.connectString);
    const holder = await service.acquire('k');
    const order: number[] = [];
    const waits = Array.from({ length: WAITERS }, (_, place) => service.using('k', () => void order.push(place)));
    await untilContenders(client, `${basePath}/k`, WAITERS + 1);
    const packets = await packetsReceived();

    await holder.release();
    await Promise.all(waits);

    expect(order).toEqual(Array.from({ length: WAITERS }, (_, place) => place));
    expect((await packetsReceived()) - packets).toBeLessThanOrEqual(2 * WAITERS + 1 + OTHER_PACKETS);
  });
});

describe('the requests of one service in one turn', () => {
  async function opened() {
    const own = { basePath: freshBasePath(), parents: 'persistent', sessionTimeoutMs } as const;
    const options = { connectString: server.connectString, ...own };
    const service = await openService(options);
    const keys = Array.from({ length: KEYS }, (_, number) => `key-${number}`);
    // The first use creates the directory, the second one finds it.
    for (const key of [...keys, ...keys]) await service.using(key, () => {});
    const client = await openClient(server.connectString);
    const directories = keys.map((key) => `${options.basePath}/${key}`);
    const statOf = async (directory: string) => (await client.read(directory)).stat;
    /**
     * The transactions that last changed the children of these directories. The server's own transactions do not count.
     */
    const lastTransactions = async () => {
      const stats = await Promise.all(directories.map(statOf));
      return new Set(stats.map(({ pzxid }) => pzxid));
    };
    return { service, keys, lastTransactions };
  }

  it('acquire 64 keys in one transaction, and release them in one', async () => {
    const { service, keys, lastTransactions } = await opened();
    const before = await packetsReceived();

    const leases = await Promise.all(keys.map((key) => service.acquire(key)));
    // One transaction, and one list per key.
    expect((await packetsReceived()) - before).toBeLessThanOrEqual(1 + KEYS + OTHER_PACKETS);
    expect(new Set(leases.map(({ fencingToken }) => fencingToken)).size).toBe(1);
    const taken = await lastTransactions();
    expect(taken.size).toBe(1);

    // On a busy machine the leases are held for long enough to be watched, so requests do not count here.
    await Promise.all(leases.map((lease) => lease.release()));
    const released = await lastTransactions();
    expect(released.size).toBe(1);
    expect(released).not.toEqual(taken);
  });

  it('never create two contenders of one key in one transaction', async () => {
    const { service, keys } = await opened();
    const asked = keys.slice(0, 8).flatMap((key) => [key, key, key]);
    const tokens = new Map<string, bigint[]>();
    const take = (key: string) =>
      service.using(key, ({ fencingToken }) => void tokens.set(key, [...(tokens.get(key) ?? []), fencingToken]));
    await Promise.all(asked.map(take));
    for (const of of tokens.values()) {
      expect(of).toHaveLength(3);
      expect(of.toSorted((a, b) => Number(a - b))).toEqual(of);
      expect(new Set(of).size).toBe(3);
    }
  });

  it('are repeated for the other keys when one directory was removed', async () => {
    const options = { connectString: server.connectString, basePath: freshBasePath(), parents: 'persistent' } as const;
    const service = await openService(options);
    const client = await openClient(server.connectString);
    const keys = ['a', 'b', 'c', 'd'];
    for (const key of [...keys, ...keys]) await service.using(key, () => {});
    await client.delete(`${options.basePath}/b`);
    await eventually(
      async () =>
        client.children(`${options.basePath}/b`).then(
          () => undefined,
          () => true,
        ),
      'b is gone',
    );

    const leases = await Promise.all(keys.map((key) => service.acquire(key)));
    expect(leases.map((lease) => lease.isHeld())).toEqual([true, true, true, true]);
    await Promise.all(leases.map((lease) => lease.release()));
  });
});
