import { describe, expect, it } from 'vitest';
import { LockLostError } from '../../../lib/contract/errors.js';
import type { GrantedLease } from '../../../lib/contract/granted-lease.js';
import type { LockRequest } from '../../../lib/contract/lock-request.js';
import type { LockService } from '../../../lib/service/lock.service.js';
import { startLocks } from './locks.js';

/** The next lease that the backend grants is lost between the backend's promise and the caller's. */
function startLosing(localLine: boolean) {
  const { locks, backend } = startLocks({ localLine });
  const acquire = backend.acquire.bind(backend);
  let isToLose = true;
  backend.acquire = async (request: LockRequest): Promise<GrantedLease | null> => {
    const lease = await acquire(request);
    const loses = isToLose && lease;
    isToLose = false;
    if (loses) queueMicrotask(() => lease.lose(new LockLostError(request.key, 'the test said so')));
    return lease;
  };
  return { locks, backend };
}

const asking: Readonly<Record<string, (locks: LockService) => Promise<unknown>>> = {
  'tryAcquire()': (locks) => locks.tryAcquire('k'),
  'acquire() without a wait': (locks) => locks.acquire('k', { waitMs: 0 }),
  'acquire()': (locks) => locks.acquire('k'),
};

describe.each([false, true])('a lease that is lost before it reaches the caller, local queue: %s', (localLine) => {
  it.each(Object.keys(asking))('is not returned: %s', async (how) => {
    const { locks, backend } = startLosing(localLine);
    // With a local queue, a caller that waits is queued again.
    const answer = await asking[how]!(locks).catch((error: unknown) => error);
    const isRetried = localLine && how === 'acquire()';
    if (isRetried) {
      expect((answer as GrantedLease).state).toBe('held');
      await (answer as GrantedLease).release();
    } else {
      expect(answer).toBeInstanceOf(LockLostError);
    }
    expect(backend.busyKeys).toEqual([]);
    await (await locks.acquire('k')).release();
  });
});

it('an atomic set is not returned when one lease is lost before it reaches the caller', async () => {
  const { locks, backend } = startLocks();
  const acquireAll = backend.acquireAll.bind(backend);
  backend.acquireAll = async (requests) => {
    const leases = await acquireAll(requests);
    queueMicrotask(() => leases?.[1]?.lose(new LockLostError('b', 'the test said so')));
    return leases;
  };
  await expect(locks.multi(['a', 'b'], { atomic: true }).acquire()).rejects.toMatchObject({
    code: 'LOCK_LOST',
    key: 'b',
  });
  expect(backend.busyKeys).toEqual([]);
});
