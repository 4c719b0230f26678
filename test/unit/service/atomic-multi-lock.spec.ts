import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, it } from 'vitest';
import { deferred } from '../../../lib/async/deferred.js';
import {
  LockConfigurationError,
  LockLostError,
  LockReentrancyError,
  LockShutdownError,
  LockTimeoutError,
} from '../../../lib/contract/errors.js';
import { MemoryBackend } from '../../../lib/memory/memory.backend.js';
import { runUnder } from '../../../lib/service/held-leases.js';
import { currentLease } from '../../../lib/service/hold-scope.js';
import { LockService } from '../../../lib/service/lock.service.js';
import { startLocks } from './locks.js';

const ATOMIC = { atomic: true };

describe('an atomic set', () => {
  it('queues for all keys at once, and holds when it is first in every queue', async () => {
    const { locks, backend } = startLocks();
    const first = await locks.acquire('a');
    const waiting = locks.multi(['b', 'a', 'b'], ATOMIC).acquire();
    await backend.standing('b', 1);
    expect(backend.contenders('a')).toHaveLength(2);
    // A contender behind it cannot get ahead of it on the other key.
    const behind = locks.multi(['a', 'b'], ATOMIC).acquire();
    await first.release();
    const set = await waiting;
    expect([set.key, set.mode, set.state, set.leases.map(({ key }) => key)]).toEqual([
      'a, b',
      'exclusive',
      'held',
      ['a', 'b'],
    ]);
    await set.release();
    await (await behind).release();
    expect(backend.busyKeys).toEqual([]);
  });

  it.each(['acquire', 'tryAcquire', 'using'] as const)('leaves every queue when its time is up: %s', async (verb) => {
    const { locks, backend } = startLocks();
    await using _held = await locks.acquire('b');
    const both = locks.multi(['a', 'b'], ATOMIC);
    for (const waitMs of [0, 5]) {
      const asked = verb === 'using' ? both.using(() => {}, { waitMs }) : both[verb]({ waitMs });
      if (verb === 'tryAcquire') expect(await asked).toBeNull();
      else await expect(asked).rejects.toMatchObject({ code: 'LOCK_TIMEOUT', key: 'a, b', waitMs });
      expect(backend.busyKeys).toEqual(['b']);
    }
  });

  it('rejects with the caller’s own reason, even a timeout error of something else', async () => {
    const { locks, backend } = startLocks();
    await using _held = await locks.acquire('b');
    const [caller, reason] = [new AbortController(), new LockTimeoutError('something else', 5)];
    const asked = locks.multi(['a', 'b'], ATOMIC).tryAcquire({ waitMs: 10_000, signal: caller.signal });
    await backend.standing('a', 1);
    caller.abort(reason);
    await expect(asked).rejects.toBe(reason);
    expect(backend.busyKeys).toEqual(['b']);
  });

  it('is the current lease inside, and each of its keys can be entered there', async () => {
    const { locks, backend } = startLocks();
    const both = locks.multi(['a', 'b'], ATOMIC);
    await both.using(async (set) => {
      expect(currentLease()).toBe(set);
      await locks.using('a', (own) => expect(own.fencingToken).toBe(set.leases[0]?.fencingToken));
      await locks.multi(['b', 'a']).using((entered) => expect(entered.isHeld()).toBe(true));
      await both.using((entered) => expect(entered.leases).toHaveLength(2));
    });
    expect(backend.requests).toHaveLength(2);
    expect(backend.busyKeys).toEqual([]);
  });

  it('refuses any further acquisition by its call', async () => {
    const { locks, backend } = startLocks();
    const refused = (asked: Promise<unknown>) => expect(asked).rejects.toBeInstanceOf(LockReentrancyError);
    const both = locks.multi(['a', 'b'], ATOMIC);
    await both.using(async () => {
      await refused(locks.using('c', () => {}));
      await refused(locks.acquire('c'));
      await refused(locks.tryAcquire('c'));
      await refused(locks.readWriteLock('c').read.using(() => {}));
      const pool = locks.semaphore('c', { permits: 1 });
      await refused(pool.using(() => {}));
      await refused(pool.acquire());
      await refused(pool.tryAcquire());
      await refused(locks.multi(['a', 'c'], ATOMIC).using(() => {}));
      await refused(both.acquire());
    });
    await locks.using('c', () => refused(both.using(() => {})));
    expect(backend.busyKeys).toEqual([]);
    // After it has ended the call holds nothing, and may acquire anything.
    await locks.using('c', () => {});
  });

  it('may be acquired under a lease without waiters, such as that of a cron tick', async () => {
    const { locks } = startLocks();
    const tick = await locks.acquire('tick');
    const both = locks.multi(['a', 'b'], ATOMIC);
    expect(await runUnder(tick, () => both.using(() => 'in'))).toBe('in');
  });

  it('refuses nothing to other calls', async () => {
    const { locks } = startLocks();
    const elsewhere = AsyncLocalStorage.snapshot();
    const both = locks.multi(['a', 'b'], ATOMIC);
    expect(await both.using(() => elsewhere(() => locks.using('c', () => 'in')))).toBe('in');
  });

  it('is lost when one of its keys is', async () => {
    const { locks, backend } = startLocks();
    const lost = new LockLostError('b', 'test');
    const working = locks.multi(['a', 'b'], ATOMIC).using((set) => {
      backend.leaseOn('b')?.lose(lost);
      expect([set.state, set.isHeld(), set.signal.reason]).toEqual(['lost', false, lost]);
    });
    await expect(working).rejects.toBe(lost);
    expect(backend.busyKeys).toEqual([]);
  });

  it('queues again for all of its keys when one is lost before it has the others', async () => {
    const { locks, backend } = startLocks();
    const held = await locks.acquire('b');
    const waiting = locks.multi(['a', 'b'], ATOMIC).acquire();
    await backend.standing('b', 2);
    backend.leaseOn('a')?.lose(new LockLostError('a', 'test'));
    await new Promise(setImmediate);
    await held.release();
    const set = await waiting;
    expect([set.state, set.isHeld(), set.signal.aborted]).toEqual(['held', true, false]);
    await set.release();
    expect(backend.busyKeys).toEqual([]);
  });

  it('releases a revoked key while it waits for the others, and queues again', async () => {
    const { locks, backend } = startLocks();
    const held = await locks.acquire('b');
    const waiting = locks.multi(['a', 'b'], ATOMIC).acquire();
    await backend.standing('b', 2);
    const next = locks.acquire('a');
    await locks.revoke('a', { graceMs: Infinity });
    await (await next).release();
    await held.release();
    const set = await waiting;
    expect([set.state, set.signal.aborted]).toEqual(['held', false]);
    await set.release();
    expect(backend.busyKeys).toEqual([]);
  });

  it('keeps a key while work that was not awaited is inside', async () => {
    const { locks, backend } = startLocks();
    const mayEnd = deferred();
    let inner: Promise<unknown> | undefined;
    await locks.multi(['a', 'b'], ATOMIC).using(async () => {
      const entered = deferred();
      inner = locks.using('b', () => (entered.resolve(), mayEnd.promise));
      await entered.promise;
    });
    expect(backend.busyKeys).toEqual(['b']);
    mayEnd.resolve();
    await inner;
    expect(backend.busyKeys).toEqual([]);
  });

  it('rejects at shutdown', async () => {
    const { locks, backend } = startLocks();
    await using _held = await locks.acquire('b');
    const waiting = locks.multi(['a', 'b'], ATOMIC).acquire();
    await backend.standing('a', 1);
    locks.beforeApplicationShutdown();
    await expect(waiting).rejects.toBeInstanceOf(LockShutdownError);
    await expect(locks.multi(['a', 'b'], ATOMIC).acquire()).rejects.toBeInstanceOf(LockShutdownError);
    expect(backend.busyKeys).toEqual(['b']);
  });

  it('is refused with options that do not go with it, and by a backend without atomic sets', () => {
    const { locks } = startLocks();
    const wrong = (options: object, field: string) => {
      expect(() => locks.multi(['a'], options)).toThrow(LockConfigurationError);
      expect(() => locks.multi(['a'], options)).toThrow(field);
    };
    wrong({ atomic: 'yes' }, 'atomic');
    wrong({ atomic: true, localLine: true }, 'localLine');
    wrong({ atomic: true, keepMs: 5 }, 'keepMs');
    expect(() => locks.multi([], ATOMIC)).toThrow('keys');
    const many = Array.from({ length: 1_001 }, (_, n) => `k${n}`);
    expect(() => locks.multi(many, ATOMIC)).toThrow('at most 1000');
    const backend = new MemoryBackend();
    Object.defineProperty(backend, 'acquireAll', { value: undefined });
    const options = { connectionName: 'x', waitMs: 0, drainTimeoutMs: 0, connectOnStart: 'required' } as const;
    expect(() => new LockService(backend, options).multi(['a'], ATOMIC)).toThrow('no atomic multi-lock');
  });
});
