import { NEVER, Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { deferred } from '../../../lib/async/deferred.js';
import { holdDuring } from '../../../lib/decorators/hold-during.js';
import type { MethodUnderLock } from '../../../lib/decorators/hold-during.js';
import { resolveLockingOptions } from '../../../lib/decorators/locking.options.js';
import { startLocks } from '../service/locks.js';

const options = resolveLockingOptions({ title: '@DistributedLock on Orders.place', place: 'Orders.place' }, {}, []);

/** A caller that leaves at moments that an end-to-end test cannot hit. */
function startCall(run: (leave: () => void) => unknown) {
  const { locks, backend } = startLocks();
  const gone = new AbortController();
  const method: MethodUnderLock = {
    title: '@DistributedLock on Orders.place',
    className: 'Orders',
    methodName: 'place',
    options,
    open: () => ({ lock: locks.mutex('a'), defaults: {} }),
    run: () => run(() => gone.abort()),
  };
  const call = () => holdDuring(method, undefined, [], gone.signal);
  return { method, call, gone, backend, locks };
}

describe('a caller that leaves', () => {
  it('between the grant and the method prevents the method', async () => {
    let hasRun = false;
    const { method, call, gone, backend, locks } = startCall(() => (hasRun = true));
    const mutex = locks.mutex('a');
    method.open = () => ({
      lock: { using: (work) => mutex.using((lease) => (gone.abort(), work(lease))) },
      defaults: {},
    });
    await expect(call()).rejects.toMatchObject({ name: 'AbortError' });
    expect([hasRun, backend.busyKeys]).toEqual([false, []]);
  });

  it('while the method runs prevents its stream, and the lease is given back', async () => {
    let subscriptions = 0;
    const source = new Observable(() => void subscriptions++);
    const { call, backend } = startCall((leave) => (leave(), source));
    expect(await call()).toBeUndefined();
    expect([subscriptions, backend.busyKeys]).toEqual([0, []]);
  });

  it('before the stream has started leaves no lease', async () => {
    const { call, gone, backend } = startCall(() => NEVER);
    await call();
    const released = deferred();
    void backend.leaseOn('a')?.released.then(released.resolve);
    gone.abort();
    await released.promise;
    expect(backend.busyKeys).toEqual([]);
  });
});
