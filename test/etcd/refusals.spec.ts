import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { etcd } from '../../lib/etcd/index.js';
import type { EtcdOptions } from '../../lib/etcd/index.js';
import { EtcdServer } from '../../lib/testing/index.js';
import { selfSigned } from '../support/self-signed.js';
import { clientsOf, hold, requestFor } from './support/clients.js';

async function serverWith(flags?: Record<string, string | number | boolean>): Promise<EtcdServer> {
  const server = await EtcdServer.start(flags ? { flags } : {});
  onTestFinished(() => server.stop());
  return server;
}

/** Makes calls as root, whose password is "root". */
function asRoot(server: EtcdServer) {
  const post = async (path: string, request: object, headers: Record<string, string>) => {
    const body = JSON.stringify(request);
    const response = await fetch(`http://${server.host}/v3/${path}`, { method: 'POST', body, headers });
    return (await response.json()) as Record<string, unknown>;
  };
  return async (path: string, request: object = {}) => {
    const { token } = await post('auth/authenticate', { name: 'root', password: 'root' }, {});
    return post(path, request, typeof token === 'string' ? { Authorization: token } : {});
  };
}

const inBase64 = (text: string) => Buffer.from(text).toString('base64');

/** A server with authentication, and a user "shop" who may use the keys below "shop/". */
async function guardedServer() {
  const server = await serverWith();
  const perm = { permType: 'READWRITE', key: inBase64('shop/'), range_end: inBase64('shop0') };
  await server.call('auth/role/add', { name: 'root' });
  await server.call('auth/role/add', { name: 'shop' });
  await server.call('auth/role/grant', { name: 'shop', perm });
  for (const name of ['root', 'shop']) {
    await server.call('auth/user/add', { name, password: name });
    await server.call('auth/user/grant', { user: name, role: name });
  }
  await server.call('auth/enable');
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
    // Whoever changes a password ends the tokens of its user.
    await asRoot(server)('auth/user/changepw', { name: 'shop', password: 'shop' });
    const next = hold(client, 'k');
    await lease.release();
    expect((await next).fencingToken).toBeGreaterThan(lease.fencingToken);
    expect(client.state).toBe('connected');
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

describe('a server with TLS and client certificates', () => {
  it('serves a client with a certificate, and no other', async () => {
    const [forServer, forClient] = [selfSigned('unused'), selfSigned('unused')];
    const dir = mkdtempSync(join(tmpdir(), 'etcd-tls-'));
    onTestFinished(() => rmSync(dir, { recursive: true }));
    const file = (name: string, text: string) => {
      writeFileSync(join(dir, name), text);
      return join(dir, name);
    };
    const server = await serverWith({
      'cert-file': file('cert.pem', forServer.cert),
      'key-file': file('key.pem', forServer.key),
      'trusted-ca-file': file('ca.pem', forClient.cert),
      'client-cert-auth': true,
    });
    const tls = { ca: forServer.cert, servername: 'shop.test' };
    const client = clientOf(server, { tls: { ...tls, cert: forClient.cert, key: forClient.key } });
    expect((await hold(client, 'k')).isHeld()).toBe(true);
    for (const other of [tls, { ...tls, cert: forServer.cert, key: forServer.key }, true]) {
      const refused = clientOf(server, { tls: other, connectTimeoutMs: 500 });
      await expect(refused.connect()).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    }
  });
});

describe('a server whose database is full', () => {
  it('refuses with an error that says so, and costs no lease', async () => {
    const server = await serverWith({ 'quota-backend-bytes': 4 * 1_024 * 1_024 });
    // Filling a disk takes a busy machine a while.
    const { open } = clientsOf({ sessionTimeoutMs: 30_000 });
    const client = open(server.host);
    const lease = await hold(client, 'k');
    const value = inBase64('x'.repeat(500_000));
    const fill = (number: number) => server.call('kv/put', { key: inBase64(`fill${number}`), value });
    const fillUp = async () => {
      for (let number = 0; number < 40; number++) await fill(number);
    };
    await expect(fillUp()).rejects.toThrow(/space exceeded/);
    const full = { code: 'LOCK_UNAVAILABLE', message: expect.stringContaining('database is full') as unknown };
    await expect(client.acquire(requestFor('other', { wait: false }))).rejects.toMatchObject(full);
    expect(lease.isHeld()).toBe(true);
    await lease.release();
    expect(await client.lineOf('k')).toEqual([]);
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
