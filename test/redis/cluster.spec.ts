import { randomUUID } from 'node:crypto';
import { Cluster } from 'ioredis';
import { Cluster as ValkeyCluster } from 'iovalkey';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { LockBackend } from '../../lib/contract/lock-backend.js';
import { redis } from '../../lib/redis/index.js';
import type { RedisOptions } from '../../lib/redis/index.js';
import { shardTags } from '../../lib/redis/open-shards.js';
import { backendContract } from '../../lib/testing/index.js';
import { hold, requestFor } from './support/clients.js';
import { TestCluster } from './support/cluster.js';
import { Traffic } from './support/traffic.js';

const SHARDS = 3;
const LONG = { timeout: 120_000 };

/** Opens a client, which is closed when the test ends. */
function opened(options: RedisOptions): LockBackend {
  const backend = redis({ shards: SHARDS, sessionTimeoutMs: 3_000, ...options }).create();
  onTestFinished(() => backend.close());
  return backend;
}

/** Returns the port of the node of each shard. */
async function portsOf(cluster: TestCluster, basePath: string): Promise<readonly number[]> {
  return Promise.all(shardTags(basePath, SHARDS).map((tag) => cluster.portOf(tag)));
}

describe('a cluster of three nodes', { timeout: 300_000 }, () => {
  let cluster: TestCluster;

  beforeAll(async () => {
    cluster = await TestCluster.start();
  });
  afterAll(() => cluster.stop());

  describe('with three shards', () => {
    const basePath = `locks/${randomUUID()}`;
    backendContract(
      { describe, it },
      {
        open: () => redis({ cluster: cluster.addresses, shards: SHARDS, basePath, restartDelayMs: 0 }).create(),
        limitMs: 30_000,
      },
    );
  });

  it('has a shard on each node, and each grants', async () => {
    const basePath = `spread/${randomUUID()}`;
    expect(new Set(await portsOf(cluster, basePath)).size).toBe(3);
    const client = opened({ cluster: cluster.addresses, basePath, restartDelayMs: 0 });
    await client.connect();
    const keys = Array.from({ length: 30 }, (_, place) => `k${place}`);
    await Promise.all(keys.map((key) => hold(client, key)));
    const other = opened({ cluster: cluster.addresses.slice(0, 1), basePath, restartDelayMs: 0 });
    for (const key of keys) expect(await other.acquire(requestFor(key, { wait: false }))).toBeNull();
  });

  it.each([
    ['a client of ioredis', () => new Cluster([...cluster.addresses], { lazyConnect: true })],
    ['a client of ioredis that is connected', () => new Cluster([...cluster.addresses])],
    ['a client of iovalkey that is connected', () => new ValkeyCluster([...cluster.addresses])],
  ])('is used through %s', async (_name, create) => {
    const connection = create();
    onTestFinished(() => connection.disconnect());
    const client = opened({ connection, basePath: `client/${randomUUID()}`, restartDelayMs: 0 });
    const leases = await Promise.all(['a', 'b', 'c', 'd'].map((key) => hold(client, key)));
    expect(leases.every((lease) => lease.isHeld())).toBe(true);
  });

  it('leaves holders their keys while a slot moves to another node, and grants go on after it', async () => {
    const basePath = `move/${randomUUID()}`;
    const options = { cluster: cluster.addresses, basePath, sessionTimeoutMs: 8_000 };
    const [one, other] = [1, 2].map(() => opened(options)) as [LockBackend, LockBackend];
    const keys = Array.from({ length: 12 }, (_, place) => `k${place}`);
    const leases = await Promise.all(keys.map((key) => hold(one, key)));
    const waiting = keys.map((key) => hold(other, key));
    await expect.poll(async () => (await one.lineOf('k0')).length).toBe(2);
    for (const tag of shardTags(basePath, SHARDS)) {
      const before = await cluster.portOf(tag);
      await cluster.move(tag, async () => {
        // Half of the keys are on either node: nothing can be granted, and nothing is lost.
        expect(leases.every((lease) => lease.isHeld())).toBe(true);
      });
      expect(await cluster.portOf(tag)).not.toBe(before);
    }
    await expect.poll(() => [one.state, other.state]).toEqual(['connected', 'connected']);
    await expect
      .poll(async () => Promise.all(keys.map((key) => one.lineOf(key).then((line) => line.length))))
      .toEqual(keys.map(() => 2));
    expect(leases.map(({ state }) => state)).toEqual(leases.map(() => 'held'));
    await Promise.all(leases.map((lease) => lease.release()));
    const next = await Promise.all(waiting);
    next.forEach((lease, place) => expect(lease.fencingToken).toBeGreaterThan(leases[place]?.fencingToken ?? 0n));
  });

  it('has one holder at a time while its slots move under traffic', async () => {
    const basePath = `traffic/${randomUUID()}`;
    const clients = [1, 2, 3].map(() => opened({ cluster: cluster.addresses, basePath, sessionTimeoutMs: 2_000 }));
    const [traffic, end] = [new Traffic('k', clients.length), new AbortController()];
    const run = traffic.run(clients, end.signal);
    onTestFinished(async () => {
      end.abort();
      await run;
    });
    await granted(traffic);
    for (const tag of shardTags(basePath, SHARDS)) await cluster.move(tag);
    await granted(traffic);
    expect(traffic.faults).toEqual([]);
  });
});

describe('a cluster with replicas, under traffic', { timeout: 300_000 }, () => {
  it('goes on when a node is killed and its replica promoted: never two holders, and a lease is kept', async () => {
    const cluster = await TestCluster.start({ replicas: true });
    onTestFinished(() => cluster.stop());
    const basePath = `fail-over/${randomUUID()}`;
    const options = { cluster: cluster.addresses, basePath, sessionTimeoutMs: 20_000 };
    const clients = [1, 2, 3].map(() => opened(options));
    const [traffic, end] = [new Traffic('k', clients.length), new AbortController()];
    const run = traffic.run(clients, end.signal);
    onTestFinished(async () => {
      end.abort();
      await run;
    });
    await granted(traffic);
    // Some of these keys are on the node that is killed.
    const keys = Array.from({ length: 9 }, (_, place) => `held${place}`);
    const leases = await Promise.all(keys.map((key) => hold(clients[0] as LockBackend, key)));
    const [tag = ''] = shardTags(basePath, SHARDS);
    const victim = await cluster.serverOf(tag);
    await victim.kill();
    await expect.poll(() => cluster.portOf(tag), LONG).not.toBe(victim.port);
    await cluster.whole();
    await granted(traffic);
    expect(traffic.faults).toEqual([]);
    expect(leases.map((lease) => lease.isHeld())).toEqual(leases.map(() => true));
  });
});

/** Resolves when each client has been granted the key five more times. */
async function granted({ grants }: Traffic): Promise<void> {
  const before = [...grants];
  await expect.poll(() => grants.every((count, place) => count >= (before[place] ?? 0) + 5), LONG).toBe(true);
}
