import { describe, expect, inject, it } from 'vitest';
import { LockConfigurationError } from '../../lib/contract/errors.js';
import { LeaderElectionService } from '../../lib/elections/leader-election.service.js';
import { CreateMode } from '../../lib/zookeeper/session/requests.js';
import type { LockService } from '../../lib/service/lock.service.js';
import { twoProcesses } from '../support/two-processes.js';

const connectString = inject('zookeeper');
const options = { waitMs: 10_000 };
const OPEN = [{ permissions: 31, scheme: 'world', id: 'anyone' }] as const;

/** Every kind of request for a key. */
const WAYS: Readonly<Record<string, (locks: LockService, key: string, basePath: string) => Promise<unknown>>> = {
  exclusive: (locks, key) => locks.acquire(key),
  'without a line': (locks, key) => locks.mutex(key, { line: 'none' }).acquire(),
  'asked once': (locks, key) => locks.tryAcquire(key),
  read: (locks, key) => locks.readWriteLock(key).read.acquire(),
  write: (locks, key) => locks.readWriteLock(key).write.acquire(),
  semaphore: (locks, key) => locks.semaphore(key, { permits: 2 }).acquire({ permits: 2 }),
  'semaphore asked once': (locks, key) => locks.semaphore(key, { permits: 2 }).tryAcquire(),
  set: (locks, key) => locks.multi([key, `${key}b`]).acquire(),
  'atomic set': (locks, key) => locks.multi([key, `${key}b`], { atomic: true }).acquire(),
  election: (locks, key, basePath) => new LeaderElectionService(locks).campaign(`${basePath}/${key}`),
};
const ways = Object.keys(WAYS);

describe('a key below another one', () => {
  it.each([
    'chain/block-0000000000',
    'chain/lock--000000001',
    'chain/x__WRIT__0000000000',
    'chain/x__READ__0000000000',
  ])('is no contender of the key above it, whatever its name: %s', async (inner) => {
    const { one, other } = await twoProcesses(connectString);
    const held = await one.acquire(inner);

    expect(await other.contenders('chain')).toEqual([]);
    await other.using('chain', () => {}, options);
    await other.readWriteLock('chain').write.using(() => {}, options);
    await other.revoke('chain', { graceMs: 0 });

    expect(held.isHeld()).toBe(true);
    expect(await other.tryAcquire(inner)).toBeNull();
    expect(await other.contenders(inner)).toHaveLength(1);
  });

  it('is no candidate of the election above it', async () => {
    const { one, other, basePath } = await twoProcesses(connectString);
    await one.acquire('office/latch-0000000000');
    const term = await new LeaderElectionService(other).campaign(`${basePath}/office`, options);
    expect(term.isHeld()).toBe(true);
  });

  it('takes no permit of the semaphore above it', async () => {
    const { one, other } = await twoProcesses(connectString);
    await one.acquire('pool/leases/release-0000000000');
    expect((await other.semaphore('pool', { permits: 1 }).tryAcquire())?.isHeld()).toBe(true);
  });

  it.each(['pool/locks', 'pool/leases', 'pool/permits'])('is no part of the semaphore above it: %s', async (inner) => {
    const { one, other } = await twoProcesses(connectString);
    const held = await one.acquire(inner);
    const pool = other.semaphore('pool', { permits: 1 });
    await pool.setPermits(5);
    expect((await pool.tryAcquire({ permits: 5 }))?.isHeld()).toBe(true);
    expect(await other.contenders(inner)).toHaveLength(1);
    await held.release();
    expect(await pool.permits()).toBe(5);
  });

  it('is encoded below the base path if a lock would parse its name', async () => {
    const { one, basePath, client } = await twoProcesses(connectString);
    await one.acquire('lock-0000000000');
    expect(await client.children(basePath)).toEqual(['lock%2D0000000000']);
    await expect(one.acquire(basePath)).rejects.toThrow('is the base path');
  });

  it('is refused as an absolute path that a recipe would parse, before any request', async () => {
    const { one, basePath, client } = await twoProcesses(connectString);
    const key = `${basePath}/chain/block-0000000000`;
    const refusal = expect.objectContaining({ message: expect.stringContaining('write "block%2D0000000000" instead') });
    await expect(one.acquire(key)).rejects.toEqual(refusal);
    await expect(one.contenders(key)).rejects.toBeInstanceOf(LockConfigurationError);
    await expect(one.revoke(key)).rejects.toBeInstanceOf(LockConfigurationError);
    await expect(client.children(basePath)).rejects.toMatchObject({ code: -101 });
  });
});

describe('a key of many levels', () => {
  // The longest possible path, and a path with more levels than there are attempts.
  it.each(ways)('is granted: %s', async (way) => {
    const { one, basePath } = await twoProcesses(connectString);
    const most = Math.floor((1_024 - basePath.length - 'b'.length) / '/a'.length);
    for (const levels of [65, 100, most]) {
      const key = Array(levels).fill('a').join('/');
      expect(await WAYS[way]?.(one, key, basePath)).toMatchObject({ state: 'held' });
    }
  });
});

describe('the levels of a key', () => {
  it('can be created by several services at the same time', async () => {
    const { one, other } = await twoProcesses(connectString);
    const key = Array(200).fill('a').join('/');
    const calls = [one, other, one, other].map((locks) =>
      locks.using(key, ({ fencingToken }) => fencingToken, options),
    );
    expect(new Set(await Promise.all(calls)).size).toBe(4);
  });
});

describe('a key below an ephemeral znode', () => {
  it.each(ways)('is refused, because an ephemeral znode has no children: %s', async (way) => {
    const { one, client, basePath } = await twoProcesses(connectString);
    const alive = { path: `${basePath}/x/alive`, data: Buffer.alloc(0), acl: OPEN, mode: CreateMode.ephemeral };
    // The server removes an empty directory, so the lock keeps it until the znode exists.
    await one.using('x', () => client.create(alive));
    for (const key of ['x/alive/k', 'x/alive/a/b/k']) {
      const error: unknown = await WAYS[way]?.(one, key, basePath).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(LockConfigurationError);
      expect((error as Error).message).toMatch(/lies below an ephemeral znode, which has no children; use another key/);
      expect((error as Error).message).toContain(`${basePath}/x/alive`);
    }
  });
});
