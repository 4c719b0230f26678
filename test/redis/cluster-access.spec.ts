import { Cluster } from 'ioredis';
import { expect, it, onTestFinished } from 'vitest';
import { redis } from '../../lib/redis/index.js';
import type { RedisOptions } from '../../lib/redis/index.js';
import { listeningServer } from './support/fake-sentinel.js';

/** Begins to connect to the nodes of a client that is not connected, as it has found none of them. */
function begin(nodes: string[], changes: RedisOptions = {}, redisOptions = {}): void {
  const connection = new Cluster(nodes, { lazyConnect: true, redisOptions });
  const backend = redis({ connection, connectTimeoutMs: 5_000, ...changes }).create();
  onTestFinished(() => backend.close());
  backend.connect().catch(() => {});
}

it.each<[string, string, RedisOptions, object, string]>([
  ['those of its URL', 'redis://me:of-url@', {}, { password: 'common' }, 'auth me of-url'],
  ['those of the client', 'redis://', {}, { password: 'common' }, 'auth common'],
  ['those of the options', 'redis://me:of-url@', { username: 'you', password: 'mine' }, {}, 'auth you mine'],
])('a node of the client of a cluster is sent a user and a password: %s', async (_what, url, changes, common, sent) => {
  const node = await listeningServer();
  begin([`${url}${node.host}:${node.port}`], changes, common);
  await expect.poll(() => node.received.length).toBeGreaterThan(0);
  expect(
    String(node.received[0])
      .replaceAll(/[*$]\d+\r\n/g, '')
      .split('\r\n')
      .join(' '),
  ).toMatch(new RegExp(`^${sent}`, 'i'));
});

it('a node of the client of a cluster is sent nothing in clear when its URL says TLS', async () => {
  const node = await listeningServer();
  begin([`rediss://:pw@${node.host}:${node.port}`]);
  await expect.poll(() => node.received.length).toBeGreaterThan(0);
  expect(node.received[0]?.[0]).toBe(0x16);
});
