import { Cluster, Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { createClient, nodesOf } from '../../../lib/redis/client/redis-client.js';
import type { RedisClient } from '../../../lib/redis/client/redis-client.js';
import { redis } from '../../../lib/redis/index.js';

describe('the nodes of a client of a cluster', () => {
  it.each<[string, string | number | object, object]>([
    [
      'a URL with its access',
      'rediss://me:p%40ss@a:1',
      { host: 'a', port: 1, username: 'me', password: 'p@ss', tls: true },
    ],
    ['a URL with a password', 'redis://:pw@a', { host: 'a', port: 6_379, username: '', password: 'pw' }],
    ['a URL with an address of IPv6', 'redis://[::1]:1', { host: '::1', port: 1 }],
    ['an address of IPv6', '::1', { host: '::1', port: 6_379 }],
    ['an address of IPv6 and a port', '[::1]:1', { host: '::1', port: 1 }],
    ['a host and a port', 'a:1', { host: 'a', port: 1 }],
    ['a port', 1, { host: '127.0.0.1', port: 1 }],
    ['a port as text', '1', { host: '127.0.0.1', port: 1 }],
    [
      'an object',
      { host: '[::1]', port: 1, password: 'pw', tls: {} },
      { host: '::1', port: 1, password: 'pw', tls: {} },
    ],
    ['an object without anything', {}, { host: '127.0.0.1', port: 6_379 }],
  ])('are read from %s', (_what, given, expected) => {
    expect(nodesOf(new Cluster([given as string], { lazyConnect: true }))).toEqual([expected]);
  });

  it.each([[[]], [['redis://']]])('must be there, as they are not in %j', (given) => {
    const connection = new Cluster(given, { lazyConnect: true });
    expect(() => redis({ connection })).toThrow('connection: the client of a cluster was given no node');
  });

  it('must have a user and a password that can be decoded, which no message repeats', () => {
    const connection = { nodes: () => [], startupNodes: ['redis://me:secret%zz@a:1'] };
    const refused = { code: 'LOCK_CONFIGURATION', message: expect.not.stringContaining('secret') };
    expect(() => redis({ connection })).toThrow(expect.objectContaining(refused));
  });
});

describe('the time that a sentinel has to answer', () => {
  it.each([
    [1, undefined],
    [2, 1_500],
  ])('with %i of them is %s ms: only others need a part of it', (count, expected) => {
    const sentinels = { name: 'shop', sentinels: Array.from({ length: count }, () => ({ host: 'a' })) };
    const connection = new Redis({ ...sentinels, lazyConnect: true }) as unknown as RedisClient;
    for (const address of [{ sentinels }, { connection }]) {
      const { options } = createClient(address, 'shop', 3_000) as unknown as Redis;
      expect(options.sentinelCommandTimeout).toBe(expected);
    }
  });
});
