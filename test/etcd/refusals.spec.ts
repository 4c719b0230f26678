import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { RefusedError } from '../../lib/etcd/client/etcd-error.js';
import { EtcdSession } from '../../lib/etcd/session/etcd-session.js';
import { etcd } from '../../lib/etcd/index.js';
import type { EtcdOptions } from '../../lib/etcd/index.js';
import { LockService } from '../../lib/service/lock.service.js';
import { EtcdServer } from '../../lib/testing/index.js';
import { clientsOf, compact, hold, requestFor } from './support/clients.js';
import { asRoot, enableAuth } from './support/auth.js';

async function serverWith(flags?: Record<string, string | number | boolean>): Promise<EtcdServer> {
  const server = await EtcdServer.start(flags ? { flags } : {});
  onTestFinished(() => server.stop());
  return server;
}

const inBase64 = (text: string) => Buffer.from(text).toString('base64');

/** A server with authentication, and a user "shop" who may use the keys below "shop/". */
async function guardedServer() {
  const server = await serverWith();
  await enableAuth(server.host);
  return server;
}

function clientOf(server: EtcdServer, options: EtcdOptions) {
  const backend = etcd({ hosts: server.host, basePath: 'shop/locks', ...options }).create();
  onTestFinished(() => backend.close());
  return backend;
}

describe('a server with authentication', () => {
  it('serves a user with a role on the keys, and renews a token that has ended', async () => {
    const server = await guardedServer();
    const client = clientOf(server, { username: 'shop', password: 'shop' });
    const lease = await hold(client, 'k');
    // A change of the password ends the tokens of its user.
    await asRoot(server.host)('auth/user/changepw', { name: 'shop', password: 'shop' });
    const next = hold(client, 'k');
    await lease.release();
    expect((await next).fencingToken).toBeGreaterThan(lease.fencingToken);
    expect(client.state).toBe('connected');
  });

  it('asks for a token again after the restart of a server, which has forgotten it', async () => {
    const server = await guardedServer();
    const client = clientOf(server, { username: 'shop', password: 'shop', sessionTimeoutMs: 30_000 });
    const lease = await hold(client, 'k');
    await server.kill();
    await server.restart();
    await expect.poll(() => lease.state).toBe('held');
    expect((await hold(client, 'other')).isHeld()).toBe(true);
    expect(await client.lineOf('k')).toMatchObject([{ state: 'held', isOwn: true }]);
  });

  it.each([
    ['a wrong password', { username: 'shop', password: 'wrong' }],
    ['no user', {}],
    ['keys on which the user has no right', { username: 'shop', password: 'shop', basePath: 'others' }],
  ])('refuses %s, with an error that says what to check', async (_, options) => {
    const client = clientOf(await guardedServer(), options);
    const refused = { code: 'LOCK_CONFIGURATION', message: expect.stringContaining('check the user') as unknown };
    await expect(client.connect()).rejects.toMatchObject(refused);
  });
});

describe('servers whose database is full', () => {
  it('refuse with an error that says so, cost no lease, and serve again after the alarm', async () => {
    const servers = await EtcdServer.startCluster(3, { flags: { 'quota-backend-bytes': 4 * 1_024 * 1_024 } });
    onTestFinished(() => Promise.all(servers.map((one) => one.stop())).then(() => {}));
    const [server] = servers as [EtcdServer, ...EtcdServer[]];
    // Filling a disk takes a busy machine a while.
    const { open } = clientsOf({ sessionTimeoutMs: 30_000 });
    const client = open(servers.map(({ host }) => host));
    const lease = await hold(client, 'k');
    const value = inBase64('x'.repeat(500_000));
    const fill = (number: number) => server.call('kv/put', { key: inBase64(`fill${number}`), value });
    const fillUp = async () => {
      for (let number = 0; number < 40; number++) await fill(number);
    };
    await expect(fillUp()).rejects.toThrow(/space exceeded/);
    const full = { code: 'LOCK_UNAVAILABLE', message: expect.stringContaining('then disarm the alarm') as unknown };
    const refused = async () => {
      try {
        await (await hold(client, 'other', { wait: false })).release();
        return undefined;
      } catch (error) {
        return error;
      }
    };
    // The other servers hear of the alarm a little later.
    await expect.poll(refused).toMatchObject(full);
    expect(lease.isHeld()).toBe(true);
    await lease.release();
    await expect.poll(() => client.lineOf('k')).toEqual([]);

    await server.call('kv/deleterange', { key: inBase64('fill'), range_end: inBase64('film') });
    await compact(server);
    for (const one of servers) await one.call('maintenance/defragment');
    const { alarms = [] } = await server.call('maintenance/alarm', { action: 'GET' });
    for (const alarm of alarms as object[]) await server.call('maintenance/alarm', { action: 'DEACTIVATE', ...alarm });
    await expect.poll(refused).toBeUndefined();
  });
});

describe('options', () => {
  it.each<[string, object]>([
    ['hosts', { hosts: 'http://localhost:2379' }],
    ['hosts', { hosts: [] }],
    ['hosts', { hosts: ['localhost'] }],
    ['sessionTimeoutMs', { sessionTimeoutMs: 1_000 }],
    ['sessionTimeoutMs', { sessionTimeoutMs: 2_500 }],
    ['basePath', { basePath: 'a//b' }],
    ['basePath', { basePath: 'locks/' }],
    ['tls', { tls: 'yes' }],
    ['password', { username: 'shop' }],
    ['endpoints', { endpoints: 'localhost:2379' }],
  ])('are refused by name: %s in %j', (field, options) => {
    expect(() => etcd(options)).toThrow(field);
  });

  it('do not show a secret', () => {
    expect(() => etcd({ username: 'shop', password: 42 as unknown as string })).toThrow(/^(?!.*42).*password/);
  });
});

describe('limits', () => {
  it('are refused by name', async () => {
    const server = await serverWith();
    const client = clientOf(server, {});
    const many = Array.from({ length: 128 }, (_, number) => `k${number}`);
    const { signal } = new AbortController();
    const limit = (what: string) => ({ code: 'LOCK_CONFIGURATION', message: expect.stringContaining(what) as unknown });
    await expect(client.acquireAll?.(many.map((key) => requestFor(key))) ?? null).rejects.toMatchObject(
      limit('127 keys'),
    );
    const changes = many.map((name) => ({ name, value: '' }));
    await expect(client.records.write(changes)).rejects.toMatchObject(limit('127 records'));
    const put = { key: 'k', payloads: many.map((text) => Buffer.from(text)), wait: false, signal };
    await expect(client.coordination?.queues.put(put)).rejects.toMatchObject(limit('127 items'));
    await expect(client.coordination?.barriers.enter({ key: 'k', count: 101, signal })).rejects.toMatchObject(
      limit('100 members'),
    );
    await expect(client.acquire(requestFor('/k'))).rejects.toMatchObject(limit('no absolute keys'));
  });

  it('are reached: sets of 127 keys, and writes and reads of 127 records', async () => {
    const client = clientOf(await serverWith(), {});
    const names = Array.from({ length: 127 }, (_, number) => `k${number}`);
    for (const wait of [true, false]) {
      const leases = await client.acquireAll?.(names.map((key) => requestFor(key, { wait })));
      expect(leases).toHaveLength(127);
      await Promise.all((leases ?? []).map((lease) => lease.release()));
    }
    expect(await client.records.write(names.map((name) => ({ name, value: name })))).toMatchObject({ isApplied: true });
    const read = await client.records.readAll([...names, ...names]);
    expect(read.map((record) => record?.value)).toEqual([...names, ...names]);
  });
});

describe('a stock of more segments than one write may change', () => {
  it('is restocked, sold and refunded, also by an order from nearly all segments', async () => {
    const client = clientOf(await serverWith(), {});
    const times = { waitMs: 30_000, drainTimeoutMs: 0 };
    const locks = new LockService(client, { connectionName: 'default', connectOnStart: 'required', ...times });
    const stock = locks.stock('mug', { segments: 200 });
    await stock.restock(1_000);
    expect((await stock.deduct(1))?.units).toBe(1);
    expect(await stock.available()).toBe(999);
    await stock.restock(501);
    const sale = await stock.deduct(1_490);
    expect(sale?.units).toBe(1_490);
    expect(await stock.refund(sale!)).toBe(true);
    expect(await stock.available()).toBe(1_500);
  });
});

describe('a writer that cannot become a reader', () => {
  it('remains a writer, and a line says so', async () => {
    const server = await serverWith();
    const client = clientsOf().open(server.host);
    const warnings: string[] = [];
    client.logTo?.({ log() {}, warn: (message) => warnings.push(message) });
    const lease = await hold(client, 'k', { mode: 'write' });
    const refused = new RefusedError('RESOURCE_EXHAUSTED', 'etcdserver: mvcc: database space exceeded');
    const spy = vi.spyOn(EtcdSession.prototype, 'change').mockRejectedValueOnce(refused);
    onTestFinished(() => spy.mockRestore());
    await lease.downgrade();
    expect([lease.state, lease.mode]).toEqual(['held', 'write']);
    expect(warnings).toContain(`"k": a writer could not become a reader, and keeps readers out: ${refused.message}`);
    await lease.release();
  });
});
