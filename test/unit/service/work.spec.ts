import { setTimeout } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { deferred } from '../../../lib/async/deferred.js';
import { CoordinationService } from '../../../lib/coordination/coordination.service.js';
import { LockConfigurationError, LockLostError } from '../../../lib/index.js';
import type { LockService } from '../../../lib/index.js';
import { startLocks } from './locks.js';

/** Every call that runs work under a lock, called without the work. */
const CALLS: readonly (readonly [string, (locks: LockService, work: never) => Promise<unknown>])[] = [
  ['using', (locks, work) => locks.using('a', work)],
  ['mutex', (locks, work) => locks.mutex('a').using(work)],
  ['readWriteLock', (locks, work) => locks.readWriteLock('a').read.using(work)],
  ['semaphore', (locks, work) => locks.semaphore('a', { permits: 1 }).using(work)],
  ['multi', (locks, work) => locks.multi(['a', 'b']).using(work)],
  ['atomic multi', (locks, work) => locks.multi(['a', 'b'], { atomic: true }).using(work)],
  ['segmented', (locks, work) => locks.segmented('a', { segments: 2 }).using(work)],
  ['withAll', (locks, work) => locks.segmented('a', { segments: 2 }).withAll(work)],
  ['double barrier', (locks, work) => new CoordinationService(locks).doubleBarrier('a', { count: 1 }).using(work)],
];

it.each(CALLS)('%s without work is refused before a lock is taken', async (_name, call) => {
  const { locks, backend } = startLocks();
  const asked = [
    vi.spyOn(backend, 'acquire'),
    vi.spyOn(backend, 'acquireAll'),
    vi.spyOn(backend.coordination.barriers, 'enter'),
  ];
  for (const work of [undefined, null, 'work', { waitMs: 5 }]) {
    const refused = expect(call(locks, work as never)).rejects;
    await refused.toThrow(LockConfigurationError);
  }
  await expect(call(locks, undefined as never)).rejects.toThrow(
    'the work to run under the lock must be a function, as in using(async (lease) => …), got undefined',
  );
  asked.forEach((method) => expect(method).not.toHaveBeenCalled());
});

describe('work that ends because its lease’s signal aborted', () => {
  it('rejects with the signal’s reason in place of the AbortError caused by it', async () => {
    const { locks, backend } = startLocks();
    const begun = deferred();
    const running = locks.using('a', ({ signal }) => {
      begun.resolve();
      return setTimeout(3_600_000, undefined, { signal });
    });
    await begun.promise;
    const reason = new LockLostError('a', 'test');
    backend.leaseOn('a')?.lose(reason);
    await expect(running).rejects.toBe(reason);
  });

  it('rejects with an AbortError that has another cause', async () => {
    const { locks } = startLocks();
    const own = AbortSignal.abort(new Error('its own'));
    const running = locks.using('a', () => setTimeout(3_600_000, undefined, { signal: own }));
    await expect(running).rejects.toMatchObject({ name: 'AbortError', cause: { message: 'its own' } });
  });
});
