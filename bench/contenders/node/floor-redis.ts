/**
 * The requests that every lock on Redis needs, without any waiting: a value with an expiry, and its removal by its owner.
 * It uses the same client as this package.
 */
import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import type { Locker, OpenContender } from './contender.js';

const LEASE_MS = 60_000;
const REMOVE = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`;

export async function open(address: string): Promise<OpenContender> {
  const redis = new Redis(`redis://${address}`, { lazyConnect: true });
  await redis.connect();
  const sha = String(await redis.script('LOAD', REMOVE));
  return {
    locker: (key): Locker<string> => ({
      async acquire() {
        const value = randomUUID();
        await redis.set(key, value, 'PX', LEASE_MS, 'NX');
        return value;
      },
      release: (value) => redis.evalsha(sha, 1, key, value),
    }),
    close: () => redis.quit(),
  };
}
