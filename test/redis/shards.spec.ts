import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { redis } from '../../lib/redis/index.js';
import type { RedisOptions } from '../../lib/redis/index.js';
import { slotOf } from '../../lib/redis/client/hash-slot.js';
import { shardTags } from '../../lib/redis/open-shards.js';
import { backendContract, RedisServer } from '../../lib/testing/index.js';
import { unusedPort } from '../support/unused-port.js';
import { clientsOf, hold, requestFor } from './support/clients.js';
import { ask } from './support/ask.js';

let server: RedisServer;

beforeAll(async () => {
  server = await RedisServer.start();
});

afterAll(() => server.stop());

const open = clientsOf({ restartDelayMs: 0, shards: 4 });
const opened = (changes: RedisOptions = {}) => open(server.url, changes);

/** Returns two keys of different shards of four. */
function apart(): [string, string] {
  const shardOf = (key: string) => slotOf(key) % 4;
  const other = Array.from({ length: 100 }, (_, place) => `other${place}`).find(
    (key) => shardOf(key) !== shardOf('one'),
  );
  return ['one', other ?? ''];
}

describe('with shards, on one server', () => {
  const basePath = `locks/${randomUUID()}`;
  backendContract(
    { describe, it },
    {
      open: () => redis({ url: server.url, shards: 4, basePath, restartDelayMs: 0 }).create(),
      limitMs: 30_000,
    },
  );
});

describe('keys of several shards', () => {
  it('are refused as one set before anything is sent, and the error names them', async () => {
    const client = opened();
    const [one, other] = apart();
    const refused = client.acquireAll?.([requestFor(one), requestFor(other)]);
    await expect(refused).rejects.toMatchObject({
      code: 'LOCK_CONFIGURATION',
      message: expect.stringContaining(`"one" and "${other}" are keys of different shards`) as unknown,
    });
    // Not even a connection was made.
    expect(client.state).toBe('suspended');
    expect(client.guarantees?.sets).toBe('keys of one shard');
    expect(opened({ shards: 1 }).guarantees?.sets).toBe('any keys');
  });

  it('belong to one with the same text in braces', async () => {
    const [one, other] = apart().map((key) => `{group}/${key}`) as [string, string];
    const leases = await opened().acquireAll?.([requestFor(one), requestFor(other)]);
    expect(leases?.map((lease) => lease.isHeld())).toEqual([true, true]);
  });

  it('may not be a semaphore and its number of permits', async () => {
    const [key, sharedCount] = apart();
    const permits = { count: 1, of: { permits: 2, sharedCount } };
    await expect(opened().acquire(requestFor(key, { mode: 'permit', permits }))).rejects.toMatchObject({
      code: 'LOCK_CONFIGURATION',
    });
  });

  it('exclude each other one by one', async () => {
    const [client, rival] = [opened(), opened()];
    for (const key of apart()) {
      await hold(client, key);
      expect(await rival.acquire(requestFor(key, { wait: false }))).toBeNull();
      expect(await rival.lineOf(key)).toHaveLength(1);
    }
  });
});

describe('the number of shards', () => {
  it('is refused when connected processes have another one, also where a key of another shard is asked for', async () => {
    const basePath = `number/${randomUUID()}`;
    const first = opened({ basePath });
    await first.connect();
    const other = opened({ basePath, shards: 5 });
    const refusal = {
      code: 'LOCK_CONFIGURATION',
      message: expect.stringContaining('shards is 5 here and 4 in the processes that are connected') as unknown,
    };
    for (const key of ['one', 'two', 'three', 'four', 'five', 'six']) {
      await expect(other.acquire(requestFor(key))).rejects.toMatchObject(refusal);
    }
    await first.close();
    await hold(opened({ basePath, shards: 5 }), 'one');
  });
});

describe('a shard', () => {
  it('that is not connected leaves the records reachable, which the first one has', async () => {
    const client = opened();
    expect(client.records.isReachable).toBe(false);
    await client.records.read('r');
    expect([client.state, client.records.isReachable]).toEqual(['suspended', true]);
  });

  it('that is cut off loses its own leases only', async () => {
    const basePath = `cut/${randomUUID()}`;
    const client = opened({ basePath });
    const [one, other] = await Promise.all(apart().map((key) => hold(client, key)));
    const [tag = ''] = shardTags(basePath, 4).filter((_, shard) => shard === slotOf('one') % 4);
    await ask(server.port, 'DEL', `{${tag}}:s`);
    await expect.poll(() => one?.isHeld()).toBe(false);
    expect(other?.isHeld()).toBe(true);
    expect((await hold(client, 'one')).fencingToken).toBeGreaterThan(one?.fencingToken ?? 0n);
  });
});

describe('the tags of shards', () => {
  it('begin with the base path, and have one slot in each part of the slots', () => {
    for (const shards of [1, 2, 3, 16, 128]) {
      const tags = shardTags('locks', shards);
      expect(tags[0]).toBe('locks');
      const parts = tags.map((tag) => Math.floor((slotOf(`{${tag}}:x`) * shards) / 16_384));
      expect(new Set(parts).size).toBe(shards);
    }
  });

  it('have the slots that a server says', async () => {
    const settings = { 'cluster-enabled': 'yes', 'cluster-port': await unusedPort() };
    const cluster = await RedisServer.start({ settings });
    onTestFinished(() => cluster.stop());
    for (const key of ['foo', '{user}:x', 'a{b}c{d}', '{}x', 'ä', '{open', 'x}{y}']) {
      const [slot] = (await ask(cluster.port, 'CLUSTER', 'KEYSLOT', key)) as unknown as [number];
      expect([key, slotOf(key)]).toEqual([key, slot]);
    }
  });
});
