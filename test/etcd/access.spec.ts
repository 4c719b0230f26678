import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { etcd } from '../../lib/etcd/index.js';
import type { EtcdOptions } from '../../lib/etcd/index.js';
import type { EtcdServer } from '../../lib/testing/index.js';
import { selfSigned } from '../support/self-signed.js';
import { enableAuth } from './support/auth.js';
import { hold } from './support/clients.js';
import { startMembers } from './support/members.js';

const [forServer, forClient] = [selfSigned('unused'), selfSigned('unused')];
const TOKEN_SECONDS = 1;
/** Its heartbeats are so far apart that none keeps a token alive. */
const SESSION_MS = 30_000;

let members: readonly EtcdServer[];
let dir: string;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'etcd-tls-'));
  const file = (name: string, text: string) => {
    writeFileSync(join(dir, name), text);
    return join(dir, name);
  };
  const tls = {
    'cert-file': file('cert.pem', forServer.cert),
    'key-file': file('key.pem', forServer.key),
    'trusted-ca-file': file('ca.pem', forClient.cert),
    'client-cert-auth': true,
  };
  const plainPorts: number[] = [];
  members = await startMembers({
    flags: ({ port, extraPort }) => {
      plainPorts.push(extraPort);
      return {
        ...tls,
        'listen-client-urls': `https://127.0.0.1:${port},http://127.0.0.1:${extraPort}`,
        'auth-token-ttl': TOKEN_SECONDS,
      };
    },
  });
  await enableAuth(`127.0.0.1:${plainPorts[0]}`);
});

afterAll(async () => {
  await Promise.all(members.map((member) => member.stop()));
  rmSync(dir, { recursive: true });
});

const TLS = { ca: forServer.cert, servername: 'shop.test', cert: forClient.cert, key: forClient.key };
const USER = { username: 'shop', password: 'shop' };

/** A client of all members. */
function open(options: EtcdOptions = {}) {
  const hosts = members.map(({ host }) => host);
  const access = { hosts, tls: TLS, ...USER, basePath: 'shop/locks', connectTimeoutMs: 30_000 };
  const backend = etcd({ sessionTimeoutMs: SESSION_MS, ...access, ...options }).create();
  onTestFinished(() => backend.close());
  return backend;
}

describe('three members with TLS, client certificates and users', () => {
  it('serve a client with a certificate and a password; each base path has its own keys', async () => {
    const [one, other, apart] = [open(), open(), open({ basePath: 'shop/others' })];
    const lease = await hold(one, 'k');
    expect((await hold(apart, 'k')).isHeld()).toBe(true);
    const waiting = hold(other, 'k');
    await expect.poll(async () => (await one.lineOf('k')).length).toBe(2);
    await lease.release();
    expect((await waiting).fencingToken).toBeGreaterThan(lease.fencingToken);
  });

  it.each([
    ['no certificate', { ca: forServer.cert, servername: 'shop.test' }],
    ['a certificate that they do not know', { ...TLS, cert: forServer.cert, key: forServer.key }],
    ['no trust in theirs', true],
  ])('serve no client with %s', async (_, tls) => {
    const refused = open({ tls, connectTimeoutMs: 500 });
    await expect(refused.connect()).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
  });

  it('serve no client with another password, which is told so', async () => {
    const refused = { code: 'LOCK_CONFIGURATION', message: expect.stringContaining('check the user') as unknown };
    await expect(open({ password: 'other' }).connect()).rejects.toMatchObject(refused);
  });

  it('end tokens that were not used for a while: that costs no lease and no turn', async () => {
    const [one, other] = [open(), open()];
    const lease = await hold(one, 'k');
    await other.connect();
    await pause(3 * TOKEN_SECONDS * 1_000);
    // A request with the old token, and a new watch on a stream that was opened with it.
    const waiting = hold(other, 'k');
    expect((await hold(one, 'k2')).isHeld()).toBe(true);
    await expect.poll(async () => (await one.lineOf('k')).length).toBe(2);
    await pause(3 * TOKEN_SECONDS * 1_000);
    expect(lease.isHeld()).toBe(true);
    await lease.release();
    expect((await waiting).fencingToken).toBeGreaterThan(lease.fencingToken);
    const states = [one.state, other.state];
    expect(states).not.toContain('lost');
  });
});
