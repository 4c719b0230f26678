/** redis-semaphore's mutex, as its documentation uses it: retried every 10 ms, and kept alive while held. */
import { Redis } from 'ioredis';
import { Mutex } from 'redis-semaphore';
import type { Locker, OpenContender } from './contender.js';

export async function open(address: string): Promise<OpenContender> {
  const redis = new Redis(`redis://${address}`, { lazyConnect: true });
  await redis.connect();
  return {
    locker: (key): Locker<Mutex> => ({
      async acquire() {
        const mutex = new Mutex(redis, key, { acquireTimeout: 600_000 });
        await mutex.acquire();
        return mutex;
      },
      release: (mutex) => mutex.release(),
    }),
    close: () => redis.quit(),
  };
}
