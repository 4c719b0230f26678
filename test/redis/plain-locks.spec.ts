import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { GrantedLease } from '../../lib/contract/granted-lease.js';
import type { LockBackend } from '../../lib/contract/lock-backend.js';
import { FaultProxy, RedisServer } from '../../lib/testing/index.js';
import { clientsOf, hold, lossOf, requestFor, SESSION_MS } from './support/clients.js';

// The libraries of others are those of the bench.
const required = createRequire(new URL('../../bench/package.json', import.meta.url));
const { Mutex } = required('redis-semaphore') as {
  Mutex: new (client: Redis, key: string, options: object) => { acquire(): Promise<void>; release(): Promise<void> };
};
const Redlock = required('redlock') as new (
  clients: readonly Redis[],
  options: { retryCount: number },
) => { lock(resource: string, ttlMs: number): Promise<{ unlock(): Promise<void> }> };

const PLAIN = { line: 'none', wait: false } as const;

let server: RedisServer;
let redis: Redis;
let client: LockBackend;
let open: ReturnType<typeof clientsOf>;
/** A key on the server that no other test uses. */
let name: string;

beforeAll(async () => {
  server = await RedisServer.start();
  redis = new Redis(server.url);
});
afterAll(async () => {
  await redis.quit();
  await server.stop();
});
beforeEach(() => {
  open = clientsOf({ restartDelayMs: 0, plainLocks: true });
  client = open(server.url);
  name = `orders:${randomUUID()}`;
});

const tryPlain = (backend = client, key = `/${name}`): Promise<GrantedLease | null> =>
  backend.acquire(requestFor(key, PLAIN));

/** A mutex of redis-semaphore, which asks once. */
const mutexOf = (key: string) => {
  const mutex = new Mutex(redis, key, { lockTimeout: SESSION_MS, acquireTimeout: 50, retryInterval: 10 });
  onTestFinished(() => mutex.release().catch(() => {}));
  return mutex;
};

describe('a plain lock on Redis', () => {
  it('is a random value with an expiry, and gone after the release', async () => {
    const lease = await hold(client, `/${name}`, PLAIN);
    expect(await redis.get(name)).toMatch(/^[0-9a-f-]{36}$/);
    expect(await redis.pttl(name)).toBeGreaterThan(SESSION_MS / 2);
    await lease.release();
    expect(await redis.exists(name)).toBe(0);
  });

  it('excludes a second one, in both orders and from both processes', async () => {
    const other = open(server.url);
    const lease = await hold(client, `/${name}`, PLAIN);
    expect(await tryPlain(other)).toBeNull();
    expect(await tryPlain()).toBeNull();
    await lease.release();
    const next = await tryPlain(other);
    expect(next?.fencingToken).toBeGreaterThan(lease.fencingToken);
    expect(await tryPlain()).toBeNull();
  });

  it('is kept for longer than its expiry', async () => {
    // Long enough for a renewal that is late on a busy machine.
    const sessionTimeoutMs = 3_000;
    const lease = await hold(open(server.url, { sessionTimeoutMs }), `/${name}`, PLAIN);
    const [value, start] = [await redis.get(name), performance.now()];
    await expect.poll(() => performance.now() - start, { interval: 50 }).toBeGreaterThan(1.3 * sessionTimeoutMs);
    expect([await redis.get(name), lease.isHeld()]).toEqual([value, true]);
  });

  it('is lost when its record is gone or is another holder’s, and removes nothing of that holder', async () => {
    const lease = await hold(client, `/${name}`, PLAIN);
    const lost = lossOf(lease);
    await redis.set(name, 'another holder');
    await lost;
    await lease.release();
    expect(await redis.get(name)).toBe('another holder');
  });

  it('is lost on its own clock before its expiry, when no server answers', async () => {
    const proxy = await FaultProxy.open(`127.0.0.1:${server.port}`);
    onTestFinished(() => proxy.close());
    const behind = open(`redis://${proxy.connectString}`, { releaseTimeoutMs: 0 });
    const lease = await hold(behind, `/${name}`, PLAIN);
    const lost = lossOf(lease);
    proxy.refuse();
    proxy.disconnect();
    await lost;
    expect(await redis.exists(name)).toBe(1);
    await expect.poll(() => redis.exists(name)).toBe(0);
  });

  it('is removed when its process closes', async () => {
    await hold(client, `/${name}`, PLAIN);
    await client.close();
    expect(await redis.exists(name)).toBe(0);
  });

  it('is not granted by a server that may have lost a holder’s record', async () => {
    const restarted = await RedisServer.start();
    onTestFinished(() => restarted.stop());
    const settling = open(restarted.url, { restartDelayMs: SESSION_MS });
    await settling.connect();
    const asked = tryPlain(settling);
    expect(await Promise.race([asked, settling.connect().then(() => 'not yet')])).toBe('not yet');
    expect((await asked)?.isHeld()).toBe(true);
  });

  it('cannot be taken where a lock of another kind is, such as a hash of Redisson', async () => {
    await redis.hset(name, 'f3b9:42', 1);
    expect(await tryPlain()).toBeNull();
  });
});

describe('beside redis-semaphore', () => {
  it('excludes its mutex, and is excluded by it', async () => {
    const mutex = mutexOf(name);
    const lease = await hold(client, `/mutex:${name}`, PLAIN);
    await expect(mutex.acquire()).rejects.toThrow('timeout');
    await lease.release();
    await mutex.acquire();
    expect(await tryPlain(client, `/mutex:${name}`)).toBeNull();
    await mutex.release();
    expect((await tryPlain(client, `/mutex:${name}`))?.isHeld()).toBe(true);
  });
});

describe('beside redlock', () => {
  it('excludes its lock, and is excluded by it', async () => {
    const redlock = new Redlock([redis], { retryCount: 0 });
    const lease = await hold(client, `/${name}`, PLAIN);
    await expect(redlock.lock(name, SESSION_MS)).rejects.toThrow('Exceeded 0 attempts');
    await lease.release();
    const theirs = await redlock.lock(name, SESSION_MS);
    expect(await tryPlain()).toBeNull();
    await theirs.unlock();
    expect((await tryPlain())?.isHeld()).toBe(true);
  });
});

describe('a key that begins with a slash is refused', () => {
  const refused = { code: 'LOCK_CONFIGURATION', key: '/k' };

  it('without the option, which the message names', async () => {
    const without = open(server.url, { plainLocks: false });
    const message = expect.stringContaining('plainLocks') as unknown;
    await expect(without.acquire(requestFor('/k', PLAIN))).rejects.toMatchObject({ ...refused, message });
  });

  it.each([
    ['with a wait queue', () => client.acquire(requestFor('/k', { wait: false }))],
    ['for readers', () => client.acquire(requestFor('/k', { ...PLAIN, mode: 'read' }))],
    ['in a set', () => client.acquireAll!([requestFor('/k', PLAIN)])],
    ['for its contenders', () => client.lineOf('/k')],
    ['for revocation', () => client.revoke!('/k', { graceMs: 0, signal: undefined })],
  ])('%s', async (_what, ask) => {
    const message = expect.stringContaining("line: 'none'") as unknown;
    await expect(ask()).rejects.toMatchObject({ ...refused, message });
  });
});
