import { AsyncResource } from 'node:async_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { LockLostError } from '../../../lib/contract/errors.js';
import { currentLease } from '../../../lib/service/hold-scope.js';
import { startLocks } from './locks.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const lost = (key: string) => new LockLostError(key, 'the test said so');

describe('a lease that was lost before the work began', () => {
  it('prevents nested work', async () => {
    const { locks, backend } = startLocks();
    let began = false;
    const outer = locks.using('z', async () => {
      backend.leaseOn('z')?.lose(lost('z'));
      await locks.using('z', () => {
        began = true;
      });
    });
    await expect(outer).rejects.toMatchObject({ code: 'LOCK_LOST' });
    expect(began).toBe(false);
  });

  it('delays work on several keys until all of them are held again', async () => {
    const { locks, backend } = startLocks();
    const blocker = await locks.acquire('b');
    const set = locks.multi(['a', 'b']).using(({ leases }) => {
      expect(leases.map((lease) => lease.isHeld())).toEqual([true, true]);
      return leases.map(({ fencingToken }) => fencingToken);
    });
    await backend.standing('b', 2);
    const first = backend.leaseOn('a');
    first?.lose(lost('a'));
    await blocker.release();

    expect((await set)[0]).toBeGreaterThan(first?.fencingToken ?? expect.unreachable());
    expect(backend.busyKeys).toEqual([]);
  });

  it('is not part of a set that is granted', async () => {
    const { locks, backend } = startLocks();
    const blocker = await locks.acquire('b');
    const set = locks.multi(['a', 'b']).acquire();
    await backend.standing('b', 2);
    backend.leaseOn('a')?.lose(lost('a'));
    await blocker.release();

    expect((await set).isHeld()).toBe(true);
    await (await set).release();
    expect(backend.busyKeys).toEqual([]);
  });
});

describe('a lease from acquire()', () => {
  it('is given back when it is lost, even without a release by its holder', async () => {
    const { locks, backend } = startLocks();
    const lease = await locks.acquire('k');
    backend.leaseOn('k')?.lose(lost('k'));
    expect((await locks.acquire('k')).isHeld()).toBe(true);
    expect(lease.state).toBe('lost');
  });
});

describe('a lease that its work has released early', () => {
  it('cannot be entered', async () => {
    const { locks, backend } = startLocks();
    await locks.using('k', async (lease) => {
      await lease.release();
      expect(currentLease()).toBeUndefined();
      await locks.using('k', (next) => expect(next.fencingToken).toBeGreaterThan(lease.fencingToken));
      await (await locks.acquire('k')).release();
    });
    expect(backend.busyKeys).toEqual([]);
  });
});

describe('work that starts itself repeatedly', () => {
  it('retains no lease that has ended', async () => {
    const { locks } = startLocks();
    let first: WeakRef<object> | undefined;
    // Retains the asynchronous context of the last round, with everything that it references.
    const last = await new Promise<AsyncResource>((resolve) => {
      const round = (rounds: number): Promise<void> =>
        locks.using('k', (lease) => {
          first ??= new WeakRef(lease);
          setImmediate(() => (rounds === 0 ? resolve(new AsyncResource('last round')) : void round(rounds - 1)));
        });
      void round(20);
    });
    // A WeakRef is not cleared in the turn in which it was created or read.
    await new Promise(setImmediate);
    collectGarbage();
    expect(first?.deref()).toBeUndefined();
    expect(last.runInAsyncScope(currentLease)).toBeUndefined();
  });
});
