import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, inject, it } from 'vitest';
import type { Lease } from '../../lib/contract/lease.js';
import { FaultProxy } from '../../lib/testing/index.js';
import type { LockService } from '../../lib/service/lock.service.js';
import { freshBasePath } from '../support/base-path.js';
import { closeService, openService } from '../support/services.js';
import { openProxy } from './driver/support/open-proxy.js';

const target = inject('zookeeper');
const STEP_MS = 50;

/** Resolves with `what` when `limitMs` are over, of which a stall of this process counts for one timer only. */
async function after(limitMs: number, what: string): Promise<string> {
  for (let ms = 0; ms < limitMs; ms += STEP_MS) await pause(STEP_MS);
  return what;
}

const faults: Readonly<Record<string, (proxy: FaultProxy) => void>> = {
  'passes nothing': (proxy) => proxy.blackHole(),
  'loses the replies': (proxy) => proxy.blackHole('toClient'),
  'is slow': (proxy) => proxy.delay(5_000),
  'is closed for good': (proxy) => {
    proxy.refuse();
    proxy.disconnect();
  },
};

const leases: Readonly<Record<string, (service: LockService) => Promise<Lease>>> = {
  'a mutex': (service) => service.acquire('k'),
  'a mutex with a local queue': (service) => service.mutex('k', { localLine: true }).acquire(),
  'a mutex without a wait queue': (service) => service.mutex('k', { line: 'none' }).acquire(),
  'a reader': (service) => service.readWriteLock('k').read.acquire(),
  'a writer': (service) => service.readWriteLock('k').write.acquire(),
  'a permit': (service) => service.semaphore('k', { permits: 2 }).acquire(),
  'ten keys': (service) => service.multi(Array.from({ length: 10 }, (_, at) => `k${at}`)).acquire(),
};

describe.each(Object.entries(faults))('release() on a link that %s', (_, break_) => {
  it.each(Object.entries(leases))('ends within a second: %s', async (_kind, acquire) => {
    const proxy = await openProxy(target);
    const service = await openService({ connectString: proxy.connectString, basePath: freshBasePath() });
    const lease = await acquire(service);
    break_(proxy);

    const released = lease.release().then(() => 'released');
    expect(await Promise.race([released, after(1_000, 'a second is over')])).toBe('released');
    expect(lease.isHeld()).toBe(false);
    proxy.heal();
  });
});

describe.each(Object.entries(faults))('a shutdown on a link that %s', (_, break_) => {
  it('ends within the time that docs/operations.md names', async () => {
    const proxy = await openProxy(target);
    const [drainTimeoutMs, releaseTimeoutMs] = [300, 900];
    const options = { basePath: freshBasePath(), drainTimeoutMs, releaseTimeoutMs, localLine: true, keepMs: 60_000 };
    const service = await openService({ connectString: proxy.connectString, ...options });
    // A lease that is taken away from its holder, and one that is kept although nobody uses it, end one after the other.
    const lease = await service.mutex('held', { localLine: false }).acquire();
    await (await service.acquire('kept')).release();
    break_(proxy);

    const closed = closeService(service).then(() => 'closed');
    const limitMs = drainTimeoutMs + 2 * releaseTimeoutMs + 1_500;
    expect(await Promise.race([closed, after(limitMs, 'it is late')])).toBe('closed');
    expect(lease.isHeld()).toBe(false);
  });
});
