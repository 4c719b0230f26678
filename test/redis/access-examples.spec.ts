import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { redis } from '../../lib/redis/index.js';
import type { RedisOptions } from '../../lib/redis/index.js';
import {
  altered,
  blockAfter,
  certificatesOf,
  examplesOf,
  fileOf,
  lockWith,
  opened,
  PAGE,
  refused,
} from '../support/access-page.js';
import { eventually } from '../support/eventually.js';
import { unusedPort } from '../support/unused-port.js';

/** Starts a server with the settings of the page, on another port. Returns its URL. */
async function serverOf(page: string, folder: string): Promise<string> {
  const port = await unusedPort();
  const settings = blockAfter(page, 'Redis').replace('tls-port 6379', `tls-port ${port}`);
  const config = await fileOf(`${settings}bind 127.0.0.1\nsave ""\ndir ${folder}\n`, folder, 'redis.conf');
  const server = spawn('redis-server', [config]);
  const ended = new Promise<void>((resolve) => server.on('close', () => resolve()));
  onTestFinished(async () => {
    server.kill();
    await ended;
  });
  let said = '';
  server.stdout.on('data', (text) => (said += text));
  await eventually(async () => said.includes('Ready to accept connections'), 'the server is ready');
  return `rediss://127.0.0.1:${port}`;
}

async function check(page: string): Promise<void> {
  const folder = await certificatesOf(page);
  const url = await serverOf(page, folder);
  const { onRedis } = await examplesOf(page);
  const file = (name: string) => readFileSync(`${folder}/${name}`);
  const own = { cert: file('shop.pem'), key: file('shop.key') };
  const tls = { ca: file('ca.pem'), servername: 'server.internal', ...own };
  const usual = {
    url,
    tls,
    username: 'shop',
    password: 'secret',
    sessionTimeoutMs: 2_000,
    connectTimeoutMs: 15_000,
  } satisfies RedisOptions;
  // A server that has just been started grants nothing for a session timeout, unless it has met a client like this.
  await opened(redis({ ...usual, restartDelayMs: 0 })).connect();
  await lockWith(onRedis(url, 'secret', folder));
  await refused(redis({ ...usual, basePath: 'others' }), 'LOCK_CONFIGURATION');
  await refused(redis({ ...usual, password: 'guess' }), 'LOCK_CONFIGURATION');
  await refused(redis({ url, tls, connectTimeoutMs: 15_000 }), 'LOCK_CONFIGURATION');
  await refused(
    redis({ ...usual, connectTimeoutMs: 2_000, tls: { ca: tls.ca, servername: tls.servername } }),
    'LOCK_UNAVAILABLE',
  );
}

describe('access to Redis as docs/operations.md shows it', { timeout: 120_000 }, () => {
  it('lets the service lock, and nobody else', async () => {
    await expect(check(PAGE)).resolves.toBeUndefined();
  });

  it.each([
    ['the keys', '~{locks}:*', '~{lock}:*', /check the user/],
    ['the channels', ' &{locks}:*', '', /check the user/],
    ['the rights', ' +@scripting', '', /check the user/],
    ['too many rights', '~{locks}:* &{locks}:*', 'allkeys allchannels', /resolved/],
    ['certificates of clients', 'tls-auth-clients yes', 'tls-auth-clients no', /resolved/],
    ['the user of others', 'user default off', 'user default on nopass +@all ~* &*', /resolved/],
    ['the names in certificates', 'DNS:$name.internal', 'DNS:$name.test', /altnames|server\.internal/],
    [
      'the application',
      "username: 'shop', password, tls: tlsOf(folder) });\n\nexport const onEtcd",
      'tls: tlsOf(folder) });\n\nexport const onEtcd',
      /other code/,
    ],
  ])('is found out when the page is wrong about %s', async (_, from, to, found) => {
    await expect(check(altered(from, to))).rejects.toThrow(found);
  });
});
