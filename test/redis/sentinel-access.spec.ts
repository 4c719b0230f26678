import { randomUUID } from 'node:crypto';
import { Redis as IoRedis6 } from 'ioredis';
import { Redis as IoRedis5 } from 'ioredis-5';
import { Redis as IoValkey } from 'iovalkey';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { LockBackend } from '../../lib/contract/lock-backend.js';
import { redis } from '../../lib/redis/index.js';
import type { RedisOptions } from '../../lib/redis/index.js';
import { RedisServer } from '../../lib/testing/index.js';
import { hold } from './support/clients.js';
import { fakeSentinel, silentServer } from './support/fake-sentinel.js';
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
