import { beforeAll, describe, expect, it } from 'vitest';
import { LockUnavailableError } from '../../lib/contract/errors.js';
import { LeaderElectionService } from '../../lib/elections/leader-election.service.js';
import { CreateMode } from '../../lib/zookeeper/session/requests.js';
import type { LockService } from '../../lib/service/lock.service.js';
import { EmbeddedZooKeeper } from '../../lib/testing/index.js';
import { freshBasePath } from '../support/base-path.js';
import { openService } from '../support/services.js';
import { openClient, untilContenders } from '../support/znodes.js';

const OPEN = [{ permissions: 31, scheme: 'world', id: 'anyone' }] as const;
const LAST = 2 ** 31 - 1;
// The first sequence number that is no longer granted.
const ENDING = 2 ** 31 - 2 ** 20 + 1;

const WAYS: Readonly<Record<string, (locks: LockService, key: string, path: string) => Promise<unknown>>> = {
  exclusive: (locks, key) => locks.acquire(key),
  'without a line': (locks, key) => locks.mutex(key, { line: 'none' }).acquire(),
  'asked once': (locks, key) => locks.tryAcquire(key),
  read: (locks, key) => locks.readWriteLock(key).read.acquire(),
  write: (locks, key) => locks.readWriteLock(key).write.acquire(),
  'atomic set': (locks, key) => locks.multi(['another', key], { atomic: true }).acquire(),
  election: (locks, _key, path) => new LeaderElectionService(locks).campaign(path),
};

let server: EmbeddedZooKeeper;

beforeAll(async () => {
  server = await EmbeddedZooKeeper.start();
  return () => server.stop();
});

/** Two sessions on a key with a key nested below it, which keeps the directory. */
async function nested() {
  const basePath = freshBasePath();
  const { connectString } = server;
  const open = () => openService({ connectString, basePath, parents: 'persistent' });
  const [one, other, client] = await Promise.all([open(), open(), openClient(connectString)]);
  await one.using('order/42', () => {});
  return { one, other, client, path: `${basePath}/order` };
}

describe('a key with keys below it, whose directory has used up its numbers', () => {
  it.each(Object.keys(WAYS))('is refused with instructions, and works once they are followed: %s', async (way) => {
    const { one, client, path } = await nested();
    const ask = () => WAYS[way]!(one, 'order', path);
    server.setSequence(path, ENDING);

    const refusal: unknown = await ask().catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(LockUnavailableError);
    expect((refusal as Error).message).toContain(`the numbers of ${path} are used up, and "42" below it keep`);

    await client.delete(`${path}/42`);
    expect(await ask()).toMatchObject({ state: 'held' });
    const names = (await client.children(path)).filter((name) => name.startsWith('_c_'));
    expect(names).toEqual([expect.stringMatching(/0000000000$/)]);
  });

  it('is not used up further by repeated requests', async () => {
    const { one, client, path } = await nested();
    server.setSequence(path, ENDING);
    await expect(one.tryAcquire('order')).rejects.toThrow('are used up');
    const { cversion } = (await client.read(path)).stat;
    for (let n = 0; n < 5; n++) await expect(one.acquire('order')).rejects.toThrow('are used up');
    expect((await client.read(path)).stat.cversion).toBe(cversion);
    expect((await one.acquire('another')).isHeld()).toBe(true);
  });

  it('is granted to no contender at the end of the numbers, where they repeat', async () => {
    const { one, other, path } = await nested();
    for (const number of [LAST - 1, LAST, LAST + 1]) {
      server.setSequence(path, number);
      const asked = [one, other, one, other].map((locks) => locks.tryAcquire('order'));
      const answers = await Promise.allSettled(asked);
      expect(answers.filter((one) => one.status === 'fulfilled' && one.value !== null)).toEqual([]);
    }
  });

  it('stays with its holder, and is waited for, until the release', async () => {
    const { one, other, client, path } = await nested();
    const lease = await one.acquire('order');
    server.setSequence(path, ENDING);
    expect(await other.tryAcquire('order')).toBeNull();
    const waiting = other.acquire('order');
    await client.delete(`${path}/42`);
    await untilContenders(client, path, 1);
    expect(lease.isHeld()).toBe(true);
    await lease.release();
    const next = await waiting;
    expect(next.fencingToken).toBeGreaterThan(lease.fencingToken);
  });

  it('is granted again once another process has recreated its directory', async () => {
    const { one, other, client, path } = await nested();
    server.setSequence(path, ENDING);
    await expect(one.tryAcquire('order')).rejects.toThrow('are used up');
    await client.delete(`${path}/42`);
    await client.delete(path);
    const lease = await other.acquire('order');
    const waiting = one.acquire('order');
    await untilContenders(client, path, 2);
    await other.using('order/42', () => {});
    await lease.release();
    expect((await waiting).isHeld()).toBe(true);
  });

  it('does not refuse another kind of the same key', async () => {
    const { one, client, path } = await nested();
    const semaphore = one.semaphore('order', { permits: 1 });
    await semaphore.using(() => {});
    await client.create({ path: `${path}/leases/x`, data: Buffer.alloc(0), acl: OPEN, mode: CreateMode.persistent });
    server.setSequence(`${path}/leases`, ENDING);
    await expect(semaphore.tryAcquire()).rejects.toThrow(`the numbers of ${path}/leases are used up, and "x" below it`);
    await expect(semaphore.acquire()).rejects.toThrow('are used up');
    expect((await one.acquire('order')).isHeld()).toBe(true);
  });
});

describe('an election whose directory has used up its numbers', () => {
  it('continues in a new directory', async () => {
    const basePath = freshBasePath();
    const { connectString } = server;
    const locks = await openService({ connectString, basePath, parents: 'persistent', service: 'shop' });
    const elections = new LeaderElectionService(locks);
    await (await elections.campaign('poller')).resign();
    server.setSequence(`${basePath}/%elections/shop%2Fpoller`, ENDING);
    const term = await elections.campaign('poller');
    expect(term.isHeld()).toBe(true);
  });
});
