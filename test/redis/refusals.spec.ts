import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { LockBackend } from '../../lib/contract/lock-backend.js';
import { RedisSession } from '../../lib/redis/session/redis-session.js';
import { RedisServer } from '../../lib/testing/index.js';
import { lost } from '../support/lost.js';
import { clientsOf, hold, requestFor } from './support/clients.js';

let open: ReturnType<typeof clientsOf>;

beforeEach(() => {
  open = clientsOf({ restartDelayMs: 0 });
});

async function start(settings = {}): Promise<RedisServer> {
  const server = await RedisServer.start({ settings });
  onTestFinished(() => server.stop());
  return server;
}

const configured = async (server: RedisServer, name: string, value: string) => {
  expect(await server.ask('CONFIG', 'SET', name, value)).toContain('+OK');
};

const acquire = (client: LockBackend) => client.acquire(requestFor('free', { wait: false }));

describe('settings that locks must not rest on', () => {
  it('eviction of any key is refused, unless it is allowed', async () => {
    const server = await start({ maxmemory: '100mb', 'maxmemory-policy': 'allkeys-lru' });
    await expect(open(server.url).connect()).rejects.toMatchObject({
      code: 'LOCK_CONFIGURATION',
      message: expect.stringContaining('set maxmemory-policy to noeviction'),
    });
    await open(server.url, { allowEviction: true }).connect();
    await configured(server, 'maxmemory-policy', 'volatile-lru');
    await open(server.url).connect();
  });

  it('eviction of keys with an expiry is refused for plain locks, which have one', async () => {
    const server = await start({ maxmemory: '100mb', 'maxmemory-policy': 'volatile-ttl' });
    await expect(open(server.url, { plainLocks: true }).connect()).rejects.toMatchObject({
      code: 'LOCK_CONFIGURATION',
      message: expect.stringContaining('set maxmemory-policy to noeviction, or leave out plainLocks'),
    });
    await open(server.url, { plainLocks: true, allowEviction: true }).connect();
    await configured(server, 'maxmemory', '0');
    await open(server.url, { plainLocks: true }).connect();
  });

  it('a missing or wrong password is refused, and the right one accepted', async () => {
    const server = await start({ requirepass: 'secret' });
    const wrong = server.url.replace('//', '//:wrong@');
    for (const url of [server.url, wrong]) {
      const refused = open(url).connect();
      await expect(refused).rejects.toMatchObject({ code: 'LOCK_CONFIGURATION' });
      await expect(refused).rejects.not.toMatchObject({ message: expect.stringContaining('secret') });
    }
    await hold(open(server.url.replace('//', '//:secret@')), 'k');
    await hold(open(server.url, { password: 'secret' }), 'other');
  });

  it('rights that are missing are refused', async () => {
    const server = await start();
    await server.ask('ACL', 'SETUSER', 'weak', 'on', '>weak', '~*', '&*', '+@all', '-evalsha');
    const refused = open(server.url, { username: 'weak', password: 'weak' }).connect();
    await expect(refused).rejects.toMatchObject({
      code: 'LOCK_CONFIGURATION',
      message: expect.stringContaining('check the user, the password and the rights'),
    });
  });

  it('the rights that the docs name are enough', async () => {
    const server = await start();
    const rights = [
      '~{test*',
      '&{test*',
      '+@read',
      '+@write',
      '+@scripting',
      '+@pubsub',
      '+@connection',
      '+info',
      '+time',
    ];
    await server.ask('ACL', 'SETUSER', 'locks', 'on', '>word', ...rights);
    const lease = await hold(open(server.url, { username: 'locks', password: 'word' }), 'k');
    expect(lease.isHeld()).toBe(true);
    await lease.release();
  });
});

describe('a server that serves later', () => {
  it('while it loads its data: a call fails in time, and a later one is served', async () => {
    const server = await start({ save: '3600 1', 'key-load-delay': '300000', 'enable-debug-command': 'yes' });
    for (let key = 0; key < 10; key++) await server.ask('SET', `key${key}`, '1');
    await server.ask('SAVE');
    await server.kill();
    const restarted = server.restart();
    const impatient = open(server.url, { connectTimeoutMs: 300 });
    await expect(acquire(impatient)).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    await restarted;
    expect((await hold(open(server.url), 'k')).isHeld()).toBe(true);
  });

  it('while its memory is full: nothing new is granted, and leases go on', async () => {
    const server = await start();
    // Long enough for a renewal that is late on a busy machine.
    const client = open(server.url, { sessionTimeoutMs: 6_000 });
    const lease = await hold(client, 'k');
    await configured(server, 'maxmemory', '1');
    await expect(acquire(client)).rejects.toMatchObject({
      code: 'LOCK_UNAVAILABLE',
      message: expect.stringContaining('no memory left'),
    });
    // The lease lives by renewals. The first one may have been sent before the memory was full.
    const renewed = vi.spyOn(RedisSession.prototype, 'proven');
    onTestFinished(() => renewed.mockRestore());
    await expect.poll(() => renewed.mock.calls.length).toBeGreaterThanOrEqual(2);
    expect(lease.isHeld()).toBe(true);
    const other = hold(open(server.url), 'k').catch((error: unknown) => error);
    await lease.release();
    await configured(server, 'maxmemory', '0');
    await other;
    await hold(client, 'free');
  });

  it('while it has too few replicas: an item that is given back is there once it has enough', async () => {
    const server = await start();
    const { queues } = open(server.url).coordination!;
    const request = { key: 'q', wait: true, signal: new AbortController().signal };
    await queues.put({ ...request, payloads: [Buffer.from('parcel')] });
    const [item] = await queues.take({ ...request, atMost: 1 });
    await configured(server, 'min-replicas-to-write', '1');
    await item!.lease.release();
    await configured(server, 'min-replicas-to-write', '0');
    const [again] = await queues.take({ ...request, atMost: 1 });
    expect(String(again!.payload)).toBe('parcel');
  });

  it('while it has too few replicas: a member of a double barrier has left once it has enough', async () => {
    const server = await start();
    const { barriers } = open(server.url).coordination!;
    const { signal } = new AbortController();
    const request = { key: 'b', count: 2, wait: true, signal } as const;
    const [first, second] = await Promise.all([barriers.enter(request), barriers.enter(request)]);
    await configured(server, 'min-replicas-to-write', '1');
    await first.lease.release();
    await configured(server, 'min-replicas-to-write', '0');
    expect(await second.leave(signal)).toBeUndefined();
  });

  it('while it has too few replicas: a member that gave up is not counted once it has enough', async () => {
    const server = await start();
    const { barriers } = open(server.url).coordination!;
    const request = { key: 'b', count: 2, wait: true } as const;
    const giveUp = new AbortController();
    const early = barriers.enter({ ...request, signal: giveUp.signal });
    await expect.poll(() => server.ask('KEYS', '*members*')).toContain('members');
    await configured(server, 'min-replicas-to-write', '1');
    giveUp.abort(new Error('given up'));
    await expect(early).rejects.toThrow('given up');
    await configured(server, 'min-replicas-to-write', '0');
    await expect.poll(() => server.ask('KEYS', '*members*')).not.toContain('members');
  });

  it('while it has too few replicas: nothing is granted, and leases run out', async () => {
    const server = await start();
    const client = open(server.url);
    const lease = await hold(client, 'k');
    await configured(server, 'min-replicas-to-write', '1');
    await expect(acquire(client)).rejects.toMatchObject({
      code: 'LOCK_UNAVAILABLE',
      message: expect.stringContaining('min-replicas-to-write'),
    });
    await lost(lease);
    await configured(server, 'min-replicas-to-write', '0');
    await expect.poll(() => client.state).toBe('connected');
    await hold(client, 'k');
  });

  it('while a script of another client runs: a call fails in time, and a later one is served', async () => {
    const server = await start({ 'lua-time-limit': '20' });
    const client = open(server.url);
    await hold(client, 'k');
    const busy = server.ask('EVAL', 'while true do end', '0').catch(() => {});
    await expect.poll(() => server.ask('PING')).toContain('BUSY');
    await expect(acquire(client)).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    await server.ask('SCRIPT', 'KILL');
    await busy;
    await expect.poll(() => client.state).toBe('connected');
    await hold(client, 'free');
  });

  it('when it belongs to a cluster: the error says so', async () => {
    const server = await start({ 'cluster-enabled': 'yes' });
    await expect(open(server.url, { connectTimeoutMs: 1_000 }).connect()).rejects.toMatchObject({
      code: 'LOCK_UNAVAILABLE',
      message: expect.stringContaining('CLUSTERDOWN'),
    });
  });
});

it('a server that is not there: a call fails in time, and says where it looked', async () => {
  const server = await start();
  await server.stop();
  const client = open(server.url, { connectTimeoutMs: 300 });
  await expect(client.connect()).rejects.toMatchObject({
    code: 'LOCK_UNAVAILABLE',
    message: expect.stringContaining('ECONNREFUSED'),
  });
});
