import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { now } from '../../../lib/async/clock.js';
import { MultiLease } from '../../../lib/composite/multi-lease.js';
import { MultiLock } from '../../../lib/composite/multi-lock.js';
import { LockConfigurationError, LockLostError, LockTimeoutError } from '../../../lib/contract/errors.js';
import { fencingTokenOf } from '../../../lib/contract/granted-lease.js';
import type { Lock } from '../../../lib/contract/lock.js';
import type { LockService } from '../../../lib/service/lock.service.js';
import { callScope } from '../../../lib/service/held-leases.js';
import { currentLease } from '../../../lib/service/hold-scope.js';
import { HoldWatch } from '../../../lib/service/hold-watch.js';
import { startLocks } from '../service/locks.js';

const acquire = (locks: LockService, keys: string[]) => locks.multi(keys).acquire() as Promise<MultiLease>;

describe('several keys at once', () => {
  it('are acquired in one order whatever order they are written in, each once', async () => {
    const { locks, backend } = startLocks();
    await using lease = await acquire(locks, ['c', 'a', 'b', 'a']);
    expect(backend.requests.map(({ key }) => key)).toEqual(['a', 'b', 'c']);
    expect(lease.leases.map(({ key }) => key)).toEqual(['a', 'b', 'c']);
    expect([lease.key, lease.mode, lease.state, lease.isHeld()]).toEqual(['a, b, c', 'exclusive', 'held', true]);
    expect(lease.fencingToken).toBe(fencingTokenOf(3n));
  });

  it('do not deadlock when acquired in opposite orders', async () => {
    const { locks, backend } = startLocks();
    let inside = 0;
    const transfer = (...keys: string[]) =>
      locks.multi(keys).using(async () => {
        expect(++inside).toBe(1);
        await new Promise((resolve) => setImmediate(resolve));
        inside--;
      });
    await Promise.all(Array.from({ length: 10 }, (_, n) => (n % 2 ? transfer('a', 'b') : transfer('b', 'a'))));
    expect(backend.busyKeys).toEqual([]);
  });

  it.each(['acquire', 'tryAcquire', 'using'] as const)(
    'reject with the caller’s own reason, even a timeout error of something else: %s',
    async (verb) => {
      const { locks } = startLocks();
      await using _held = await locks.acquire('b');
      const [caller, reason] = [new AbortController(), new LockTimeoutError('something else', 5)];
      const both = locks.multi(['a', 'b']);
      const options = { waitMs: 10_000, signal: caller.signal };
      const asked = verb === 'using' ? both.using(() => {}, options) : both[verb](options);
      setImmediate(() => caller.abort(reason));
      await expect(asked).rejects.toBe(reason);
    },
  );

  it('are released in reverse', async () => {
    const { locks, backend } = startLocks();
    const order: string[] = [];
    const lease = await acquire(locks, ['a', 'b']);
    for (const key of ['a', 'b']) void backend.leaseOn(key)?.released.then(() => order.push(key));
    await lease.release();
    expect(order).toEqual(['b', 'a']);
    expect([lease.state, lease.isHeld()]).toEqual(['released', false]);
  });

  it('are all or none: those acquired are given back when one cannot be had', async () => {
    const { locks, backend } = startLocks();
    await using _held = await locks.acquire('b');
    const both = locks.multi(['a', 'b']);
    const timeout = { code: 'LOCK_TIMEOUT', key: 'b', waitMs: 1 };
    await expect(both.acquire({ waitMs: 1 })).rejects.toMatchObject(timeout);
    await expect(both.using(() => expect.unreachable(), { waitMs: 1 })).rejects.toMatchObject(timeout);
    expect(await both.tryAcquire()).toBeNull();
    const caller = new AbortController();
    const waiting = both.acquire({ signal: caller.signal });
    await backend.standing('b', 2);
    caller.abort('mine');
    await expect(waiting).rejects.toBe('mine');
    expect(backend.busyKeys).toEqual(['b']);
  });

  it('share one deadline: each key waits for the time that the previous ones left', async () => {
    const { locks } = startLocks();
    const waits: number[] = [];
    const slow = (key: string): Lock => ({
      ...locks.mutex(key),
      acquire: async (options) => {
        waits.push(options?.waitMs ?? 0);
        const end = now() + 5;
        while (now() < end) await new Promise((resolve) => setImmediate(resolve));
        return locks.acquire(key);
      },
    });
    const members = ['a', 'b', 'c'].map((key) => ({ key, identity: key, lock: slow(key) }));
    await using _lease = await new MultiLock(members, 60_000, callScope(new HoldWatch(() => {}), {})).acquire();
    const [first = 0, second = 0, third = 0] = waits;
    expect(first).toBeLessThanOrEqual(60_000);
    expect(second).toBeLessThanOrEqual(first - 5);
    expect(third).toBeLessThanOrEqual(second - 5);
  });

  it('are requested once each, without waiting, when no time is left', async () => {
    const { locks, backend } = startLocks();
    await using _lease = await locks.multi(['a', 'b']).acquire({ waitMs: 0 });
    expect(backend.requests.map(({ wait }) => wait)).toEqual([false, false]);
  });

  it('are one lease to the work, which is the current one', async () => {
    const { locks, backend } = startLocks();
    await locks.multi(['b', 'a']).using((lease) => {
      expect(lease).toBeInstanceOf(MultiLease);
      expect(currentLease()).toBe(lease);
    });
    expect(backend.busyKeys).toEqual([]);
  });

  it('are lost together with one of them, with its reason', async () => {
    const { locks, backend } = startLocks();
    const lost = new LockLostError('b', 'test');
    const running = locks.multi(['a', 'b']).using((lease) => {
      backend.leaseOn('b')?.lose(lost);
      expect([lease.state, lease.isHeld(), lease.signal.reason]).toEqual(['lost', false, lost]);
    });
    await expect(running).rejects.toBe(lost);
    expect(backend.busyKeys).toEqual([]);
  });

  it("return the work's result with onLost: 'ignore', and its own error before the loss", async () => {
    const { locks, backend } = startLocks();
    const lose = () => backend.leaseOn('b')?.lose(new LockLostError('b', 'test'));
    const both = locks.multi(['a', 'b']);
    expect(await both.using(() => (lose(), 'result'), { onLost: 'ignore' })).toBe('result');
    const failing = both.using(() => (lose(), Promise.reject(new TypeError('its own'))));
    await expect(failing).rejects.toThrow(TypeError);
  });

  it('must not be empty', () => {
    const { locks } = startLocks();
    expect(() => locks.multi([])).toThrow(LockConfigurationError);
    expect(() => locks.multi('ab' as unknown as string[])).toThrow('keys must be an array');
  });

  it('have one waitMs that is validated before it is counted down', async () => {
    const { locks } = startLocks();
    const waitMs = '5' as unknown as number;
    await expect(locks.multi(['a']).acquire({ waitMs })).rejects.toThrow('waitMs must be a number of milliseconds');
  });
});

describe('several keys of which the caller holds some', () => {
  it('are entered or acquired, and the keys that were held before stay held', async () => {
    const { locks, backend } = startLocks();
    await locks.using('b', async (outer) => {
      await locks.multi(['a', 'b']).using(() => expect(backend.leaseOn('a')?.isHeld()).toBe(true));
      expect(outer.isHeld()).toBe(true);
      expect(backend.busyKeys).toEqual(['b']);
    });
    expect(backend.requests.map(({ key }) => key)).toEqual(['b', 'a']);
    expect(backend.busyKeys).toEqual([]);
  });

  it('leave no listener on a lease that outlives them', async () => {
    const { locks } = startLocks();
    await locks.using('b', async (outer) => {
      await locks.multi(['a', 'b']).using(() => expect(getEventListeners(outer.signal, 'abort')).toHaveLength(1));
      expect(getEventListeners(outer.signal, 'abort')).toHaveLength(0);
    });
  });

  it('can each be entered inside', async () => {
    const { locks, backend } = startLocks();
    await locks.multi(['a', 'b']).using(() => locks.using('b', () => locks.using('a', () => {})));
    expect(backend.requests).toHaveLength(2);
  });
});
