/** redlock on one Redis, with its default delays between attempts. */
import { Redis } from 'ioredis';
import Redlock from 'redlock';
import type { Lock } from 'redlock';
import type { Locker, OpenContender } from './contender.js';

const LEASE_MS = 60_000;
const UNLIMITED = -1;

export async function open(address: string): Promise<OpenContender> {
  const redis = new Redis(`redis://${address}`, { lazyConnect: true });
  await redis.connect();
  // Its types are those of an older ioredis.
  const redlock = new Redlock([redis as unknown as Redlock.CompatibleRedisClient], { retryCount: UNLIMITED });
  return {
    locker: (key): Locker<Lock> => ({
      acquire: async () => redlock.lock(key, LEASE_MS),
      release: async (lock) => lock.unlock(),
    }),
    close: () => redis.quit(),
  };
}
