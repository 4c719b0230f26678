import { expect, inject, it } from 'vitest';
import type { Lock } from '../../lib/contract/lock.js';
import type { LockService } from '../../lib/service/lock.service.js';
import { freshBasePath } from '../support/base-path.js';
import { openService } from '../support/services.js';
import { unusedPort } from '../support/unused-port.js';
import { lost } from './driver/support/leases.js';
import { openProxy } from './driver/support/open-proxy.js';

const target = inject('zookeeper');
// Long enough for the first connection, too, on a busy machine.
const CONNECT_MS = 2_000;

/** Services without a local queue that have no server, each for another reason. */
const outOfReach: Readonly<Record<string, () => Promise<LockService>>> = {
  'was never there': async () =>
    openService({
      connectString: `127.0.0.1:${await unusedPort()}`,
      connectTimeoutMs: CONNECT_MS,
      connectOnStart: 'background',
    }),
  'hangs up': async () => {
    const { proxy, service } = await connected();
    proxy.refuse();
    proxy.disconnect();
    return service;
  },
  'is silent': async () => {
    const { proxy, service } = await connected();
    proxy.blackHole();
    return service;
  },
  'has been gone for longer than the session': async () => {
    const { proxy, service } = await connected(1_000);
    const lease = await service.acquire('held');
    proxy.refuse();
    proxy.disconnect();
    await lost(lease);
    return service;
  },
};

async function connected(sessionTimeoutMs = 8_000) {
  const proxy = await openProxy(target);
  const service = await openService({
    connectString: proxy.connectString,
    basePath: freshBasePath(),
    connectTimeoutMs: CONNECT_MS,
    sessionTimeoutMs,
  });
  return { proxy, service };
}

/** One lock of every kind that sends requests of its own. */
const locksOf = (service: LockService): readonly Lock[] => [
  service.mutex('k'),
  service.readWriteLock('k').read,
  service.readWriteLock('k').write,
  service.semaphore('k', { permits: 2 }),
];

it.each(Object.keys(outOfReach))('a single attempt fails while the server %s', async (how) => {
  const service = await outOfReach[how]!();
  const callers = locksOf(service).flatMap((lock) => [lock, lock, lock]);

  const answers = await Promise.allSettled(callers.map((lock) => lock.tryAcquire()));

  expect(answers.map((answer) => answer.status === 'rejected' && (answer.reason as { code: string }).code)).toEqual(
    callers.map(() => 'LOCK_UNAVAILABLE'),
  );
});
