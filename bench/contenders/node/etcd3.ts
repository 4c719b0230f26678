/** etcd3's lock. It has no wait queue: a caller that is refused asks again a little later. */
import { setTimeout as pause } from 'node:timers/promises';
import { Etcd3, EtcdLockFailedError } from 'etcd3';
import type { Lock } from 'etcd3';
import type { Locker, OpenContender } from './contender.js';

const LEASE_SECONDS = 60;
const [SHORTEST_MS, LONGEST_MS] = [5, 15];

export async function open(address: string): Promise<OpenContender> {
  const client = new Etcd3({ hosts: `http://${address}` });
  await client.maintenance.status();
  return {
    locker: (key): Locker<Lock> => ({
      acquire: () => acquire(client, key),
      release: (lock) => lock.release(),
    }),
    close: async () => client.close(),
  };
}

async function acquire(client: Etcd3, key: string): Promise<Lock> {
  for (;;) {
    try {
      return await client.lock(key).ttl(LEASE_SECONDS).acquire();
    } catch (error) {
      if (!(error instanceof EtcdLockFailedError)) throw error;
      await pause(SHORTEST_MS + Math.random() * (LONGEST_MS - SHORTEST_MS));
    }
  }
}
