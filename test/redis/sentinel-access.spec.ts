import { randomUUID } from 'node:crypto';
import { Redis as IoRedis6 } from 'ioredis';
import { Redis as IoRedis5 } from 'ioredis-5';
import { Redis as IoValkey } from 'iovalkey';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { LockBackend } from '../../lib/contract/lock-backend.js';
import { redis } from '../../lib/redis/index.js';
import type { RedisOptions } from '../../lib/redis/index.js';
import { RedisServer } from '../../lib/testing/index.js';
import { selfSigned } from '../support/self-signed.js';
import { hold } from './support/clients.js';
import { fakeSentinel, listeningServer, silentServer } from './support/fake-sentinel.js';
import type { Address } from './support/fake-sentinel.js';

let server: RedisServer;

beforeAll(async () => {
  server = await RedisServer.start();
});

afterAll(() => server.stop());

const primary = () => ({ host: '127.0.0.1', port: server.port });

/** Opens a client, which is closed when the test ends. */
function opened(options: RedisOptions): LockBackend {
  const backend = redis({ basePath: `sentinels/${randomUUID()}`, restartDelayMs: 0, ...options }).create();
  onTestFinished(() => backend.close());
  return backend;
}

interface Given {
  readonly name: string;
  readonly sentinels: Address[];
}

describe.each<[string, (given: Given) => RedisOptions]>([
  ['the option', (given) => ({ sentinels: given })],
  ['a client of ioredis 6', (given) => ({ connection: new IoRedis6({ ...given, lazyConnect: true }) })],
  ['a client of ioredis 5', (given) => ({ connection: new IoRedis5({ ...given, lazyConnect: true }) })],
  ['a client of iovalkey', (given) => ({ connection: new IoValkey({ ...given, lazyConnect: true }) })],
])('sentinels that are given by %s', (_name, optionsOf) => {
  it('are asked in turns: silent ones at the begin of the list do no harm', async () => {
    const sentinels = [await silentServer(), await silentServer(), await fakeSentinel(primary())];
    const client = opened(optionsOf({ name: 'shop', sentinels }));
    expect((await hold(client, 'k')).isHeld()).toBe(true);
  });
});

it('a silent sentinel has only a part of the time of an attempt to connect', async () => {
  const sentinels = [await silentServer(), await fakeSentinel(primary())];
  // There is no time for a second attempt.
  const client = opened({
    sentinels: { name: 'shop', sentinels },
    sessionTimeoutMs: 18_000,
    connectTimeoutMs: 3_000,
  });
  await client.connect();
  expect(client.state).toBe('connected');
});

describe('a password and TLS', () => {
  const TLS = 0x16;
  const identity = selfSigned('unused');
  const trusted = { ca: identity.cert, servername: 'shop.test' };

  it.each<[string, (given: Given) => RedisOptions]>([
    ['the option', (given) => ({ sentinels: given })],
    ['a client', (given) => ({ connection: new IoRedis6({ ...given, lazyConnect: true }) })],
  ])('of a server that sentinels name by %s: nothing is sent in clear', async (_name, optionsOf) => {
    const secure = await listeningServer();
    const given = { name: 'shop', sentinels: [await fakeSentinel(secure)] };
    opened({ ...optionsOf(given), password: 'secret', tls: true })
      .connect()
      .catch(() => {});
    await expect.poll(() => secure.received.length).toBeGreaterThan(0);
    expect(secure.received.map(([first]) => first)).toEqual(secure.received.map(() => TLS));
  });

  it('of the sentinels are those of their option, and of no server', async () => {
    const sentinel = await fakeSentinel(primary(), identity);
    const access = { username: 'watcher', password: 'watching', tls: trusted };
    const client = opened({ sentinels: { name: 'shop', sentinels: [sentinel], ...access } });
    await client.connect();
    expect(client.state).toBe('connected');
    expect(sentinel.received.join('')).toMatch(/auth\r\n\$7\r\nwatcher\r\n\$8\r\nwatching\r\n/i);
  });

  it.each<[string, object, string]>([
    ['an empty password', { password: '' }, 'sentinels.password must be a string that is not empty'],
    ['a user that is none', { username: 3 }, 'sentinels.username must be a string that is not empty, got number'],
    ['TLS that is none', { tls: 'yes' }, 'sentinels.tls must be true, false or TLS options'],
    ['a misspelt field', { pasword: 'x' }, 'pasword'],
  ])('of the sentinels are refused: %s', (_what, wrong, message) => {
    expect(() => redis({ sentinels: { name: 'shop', sentinels: [{ host: 'a' }], ...wrong } })).toThrow(message);
  });
});
