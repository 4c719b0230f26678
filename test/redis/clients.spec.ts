import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis as IoRedis6 } from 'ioredis';
import { Redis as IoRedis5 } from 'ioredis-5';
import { Redis as IoValkey } from 'iovalkey';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { redis } from '../../lib/redis/index.js';
import type { RedisClient } from '../../lib/redis/index.js';
import { backendContract, RedisServer } from '../../lib/testing/index.js';
import { selfSigned } from '../support/self-signed.js';
import { unusedPort } from '../support/unused-port.js';
import { clientsOf, hold } from './support/clients.js';

let server: RedisServer;

beforeAll(async () => {
  server = await RedisServer.start();
});

afterAll(() => server.stop());

const CLIENTS: Readonly<Record<string, (url: string, options?: object) => RedisClient>> = {
  'ioredis 6': (url, options) => new IoRedis6(url, { lazyConnect: true, ...options }),
  'ioredis 5': (url, options) => new IoRedis5(url, { lazyConnect: true, ...options }),
  iovalkey: (url, options) => new IoValkey(url, { lazyConnect: true, ...options }),
};

describe.each(['ioredis 5', 'iovalkey'])('locks by Redis, through a client of %s', (name) => {
  const basePath = `locks/${randomUUID()}`;
  backendContract(
    { describe, it },
    {
      open: () => redis({ connection: CLIENTS[name]?.(server.url), basePath, restartDelayMs: 0 }).create(),
      limitMs: 30_000,
    },
  );
});

describe.each(Object.keys(CLIENTS))('a connection of %s', (name) => {
  it('is only duplicated, and settings that would break locks are not taken over', async () => {
    const settings = { keyPrefix: 'mine:', enableAutoPipelining: true, commandTimeout: 1, stringNumbers: true };
    const given = CLIENTS[name]?.(server.url, settings);
    const basePath = randomUUID();
    const backend = redis({ connection: given, basePath, restartDelayMs: 0 }).create();
    onTestFinished(() => backend.close());
    await hold(backend, 'k');
    expect((given as unknown as { status: string }).status).toBe('wait');
    expect(await server.ask('EXISTS', `{${basePath}}:h:lock:k`)).toBe(':1\r\n');
  });
});

describe('a server with TLS', () => {
  const open = clientsOf({ restartDelayMs: 0 });
  let port: number;
  let cert: string;

  beforeAll(async () => {
    const dir = mkdtempSync(join(tmpdir(), 'redis-tls-'));
    const made = selfSigned('unused');
    cert = made.cert;
    writeFileSync(join(dir, 'cert.pem'), cert);
    writeFileSync(join(dir, 'key.pem'), made.key);
    port = await unusedPort();
    const files = { 'tls-cert-file': join(dir, 'cert.pem'), 'tls-key-file': join(dir, 'key.pem') };
    const secure = await RedisServer.start({ settings: { 'tls-port': port, 'tls-auth-clients': 'no', ...files } });
    return async () => {
      await secure.stop();
      rmSync(dir, { recursive: true });
    };
  });

  it('is used by rediss:// when its certificate is trusted', async () => {
    const tls = { ca: cert, servername: 'shop.test' };
    expect((await hold(open(`rediss://127.0.0.1:${port}`, { tls }), 'k')).isHeld()).toBe(true);
  });

  it('is refused when its certificate is not trusted, and the error says so', async () => {
    const refused = open(`rediss://127.0.0.1:${port}`, { connectTimeoutMs: 500 }).connect();
    await expect(refused).rejects.toMatchObject({
      code: 'LOCK_UNAVAILABLE',
      message: expect.stringContaining('self-signed certificate') as unknown,
    });
  });
});
