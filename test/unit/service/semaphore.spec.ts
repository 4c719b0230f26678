import { describe, expect, it } from 'vitest';
import { deferred } from '../../../lib/async/deferred.js';
import { LockReentrancyError, LockShutdownError } from '../../../lib/contract/errors.js';
import type { LockBackend } from '../../../lib/contract/lock-backend.js';
import type { SemaphoreAcquireOptions } from '../../../lib/contract/semaphore.options.js';
import { MemoryBackend } from '../../../lib/memory/memory.backend.js';
import { currentLease } from '../../../lib/service/hold-scope.js';
import { LockService } from '../../../lib/service/lock.service.js';
import { settled } from '../local/callers.js';
import { startLocks } from './locks.js';

function startPool(permits = 2) {
  const { locks, backend } = startLocks({ localLine: true });
  return { locks, backend, pool: locks.semaphore('pool', { permits }) };
}

describe('a semaphore', () => {
  it('is held as often as it has permits', async () => {
    const { pool } = startPool(2);
    const [first, second] = [await pool.acquire(), await pool.acquire()];
    expect([first.mode, first.key, second.isHeld()]).toEqual(['permit', 'pool', true]);
    expect(second.fencingToken).toBeGreaterThan(first.fencingToken);
    expect(await pool.tryAcquire()).toBeNull();
    await expect(pool.acquire({ waitMs: 0 })).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
    await first.release();
    expect(await pool.tryAcquire()).not.toBeNull();
  });

  it('grants all permits of an acquisition or none, in order', async () => {
    const { pool, backend } = startPool(3);
    const small = await pool.acquire();
    const log: string[] = [];
    const big = pool.using(() => void log.push('big'), { permits: 3 });
    await backend.standing('pool', 2);
    const late = pool.using(() => void log.push('late'));
    expect(await pool.tryAcquire()).toBeNull();
    await small.release();
    await Promise.all([big, late]);
    expect(log).toEqual(['big', 'late']);
  });

  it('neither excludes nor holds a lock of the same key', async () => {
    const { locks, pool } = startPool(1);
    await pool.using(async () => {
      await locks.using('pool', () => {}, { reentrant: false });
      expect(await locks.tryAcquire('pool')).not.toBeNull();
    });
  });

  it('is resized for all users, waiters included', async () => {
    const { locks, pool, backend } = startPool(1);
    const held = await pool.acquire();
    const waiting = pool.acquire({ permits: 2 });
    await backend.standing('pool', 2);
    await locks.semaphore('pool', { permits: 9 }).setPermits(3);
    expect((await waiting).isHeld()).toBe(true);
    expect(await pool.permits()).toBe(3);
    await pool.setPermits(1);
    await held.release();
    expect(await pool.tryAcquire()).toBeNull();
  });

  it('passes the lease to the work, and releases it whatever happens', async () => {
    const { pool, backend } = startPool(1);
    const failing = pool.using((lease) => {
      expect(currentLease()).toBe(lease);
      throw new Error('of its own');
    });
    await expect(failing).rejects.toThrow('of its own');
    expect(backend.busyKeys).toEqual([]);
  });

  it('rejects when its signal aborts, and leaves no contender', async () => {
    const { pool, backend } = startPool(1);
    const lease = await pool.acquire();
    const abort = new AbortController();
    const waiting = pool.acquire({ signal: abort.signal });
    await backend.standing('pool', 2);
    abort.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await backend.standing('pool', 1);
    await expect(pool.acquire({ signal: AbortSignal.abort(new Error('before')) })).rejects.toThrow('before');
    await lease.release();
  });

  it('ends with the application', async () => {
    const { locks, pool } = startPool(1);
    const lease = await pool.acquire();
    const waiting = expect(pool.acquire()).rejects.toBeInstanceOf(LockShutdownError);
    await settled();
    locks.beforeApplicationShutdown();
    await waiting;
    const closing = locks.onApplicationShutdown();
    await lease.release();
    await closing;
    await expect(pool.acquire()).rejects.toBeInstanceOf(LockShutdownError);
  });
});

describe('a nested acquisition', () => {
  it('takes further permits', async () => {
    const { pool, backend } = startPool(2);
    const inner = await pool.using((outer) =>
      pool.using((lease) => [lease !== outer, backend.contenders('pool').length, outer.isHeld() && lease.isHeld()]),
    );
    expect(inner).toEqual([true, 2, true]);
    expect(backend.busyKeys).toEqual([]);
  });

  it('is refused at once when it would wait for itself, whatever the options were', async () => {
    const { locks, pool } = startPool(3);
    const nested = pool.using(() => pool.acquire({ permits: 2 }), { permits: 2 });
    await expect(nested).rejects.toBeInstanceOf(LockReentrancyError);
    await locks.semaphore('pool', { permits: 1 }).setPermits(4);
    await expect(pool.using(() => pool.acquire({ permits: 2 }), { permits: 2 })).resolves.toBeDefined();
  });

  it('is refused with reentrant: false', async () => {
    const { pool } = startPool(9);
    const nested = pool.using(() => pool.using(() => {}, { reentrant: false }));
    await expect(nested).rejects.toBeInstanceOf(LockReentrancyError);
    await expect(pool.using(() => {}, { reentrant: false })).resolves.toBeUndefined();
  });

  it('rejects with its signal while the number of permits is being read', async () => {
    const { pool, backend } = startPool(9);
    await pool.using(async () => {
      backend.permitCounts.read = () => new Promise(() => {});
      const abort = new AbortController();
      const asked = [pool.acquire({ signal: abort.signal }), pool.using(() => {}, { signal: abort.signal })];
      abort.abort(new Error('enough'));
      for (const nested of asked) await expect(nested).rejects.toThrow('enough');
    });
    expect(backend.requests).toHaveLength(1);
  });

  it('includes the time to read the number of permits in its waitMs', async () => {
    const { pool, backend } = startPool(2);
    const read = backend.permitCounts.read.bind(backend.permitCounts);
    backend.permitCounts.read = async (...asked) => {
      await new Promise((resolve) => setTimeout(resolve, 60));
      return read(...asked);
    };
    const other = await pool.acquire();
    await pool.using(async () => {
      await expect(pool.acquire({ waitMs: 30 })).rejects.toMatchObject({ code: 'LOCK_TIMEOUT', waitMs: 30 });
      expect(await pool.tryAcquire({ waitMs: 30 })).toBeNull();
    });
    expect(backend.requests.filter(({ wait }) => wait)).toHaveLength(2);
    await other.release();
  });

  it('does not include other keys, nor concurrent calls', async () => {
    const { locks, pool } = startPool(1);
    const other = locks.semaphore('other', { permits: 1 });
    await pool.using(() => other.using(() => {}));
    const mayLeave = deferred();
    const first = pool.using(() => mayLeave.promise);
    const second = pool.using(() => 'second');
    mayLeave.resolve();
    await first;
    expect(await second).toBe('second');
  });
});

describe('wrong input', () => {
  it.each([
    [{ permits: 0 }, 'permits must be a whole number from 1 to 10000, got the number 0'],
    [{ permits: 1.5 }, 'permits must be a whole number'],
    [{ permits: 20_000 }, 'permits must be a whole number from 1 to 10000'],
    [{}, 'permits must be a whole number from 1 to 10000, got undefined'],
    [{ permits: 1, sharedCount: '' }, 'sharedCount must be a key'],
    [{ permits: 1, shared: '' }, 'unknown field "shared"'],
  ])('in the options is named: %j', (options, message) => {
    const { locks } = startLocks();
    expect(() => locks.semaphore('k', options as { permits: number })).toThrow(message);
  });

  it.each([
    [{ permits: 0 }, 'permits must be a whole number from 1 to 1000'],
    [{ permits: 1_001 }, 'permits must be a whole number from 1 to 1000'],
    [{ count: 1 }, 'unknown field "count"'],
    [{ waitMs: -1 }, 'waitMs must be'],
  ])('of one call is named, and no request is made: %j', async (wrong, message) => {
    const options = wrong as SemaphoreAcquireOptions;
    const { pool, backend } = startPool();
    await expect(pool.acquire(options)).rejects.toThrow(message);
    await expect(pool.tryAcquire(options)).rejects.toThrow(message);
    await expect(pool.using(() => expect.unreachable(), options)).rejects.toThrow(message);
    expect(backend.requests).toEqual([]);
  });

  it('as a new number is named', async () => {
    const { pool } = startPool();
    await expect(pool.setPermits(-1)).rejects.toThrow('permits must be a whole number from 0 to 10000');
  });

  it('includes a backend without semaphores or revocation', async () => {
    class Plain extends MemoryBackend {
      override readonly permitCounts = undefined as never;
      override readonly revoke = undefined as never;
    }
    const backend: LockBackend = new Plain();
    const options = { connectionName: 'c', waitMs: 1, drainTimeoutMs: 1, connectOnStart: 'required' } as const;
    const locks = new LockService(backend, options);
    expect(() => locks.semaphore('k', { permits: 1 })).toThrow('the backend "memory" has no semaphores');
    await expect(locks.revoke('k')).rejects.toThrow('the backend "memory" cannot revoke');
  });
});
