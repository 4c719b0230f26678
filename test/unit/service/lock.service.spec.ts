import { describe, expect, it } from 'vitest';
import { deferred } from '../../../lib/async/deferred.js';
import { LockConfigurationError, LockLostError, LockTimeoutError } from '../../../lib/contract/errors.js';
import type { Lease } from '../../../lib/contract/lease.js';
import type { UsingOptions } from '../../../lib/contract/lock.js';
import { startLocks } from './locks.js';

describe('acquire', () => {
  it('grants a lease that excludes others until it is released', async () => {
    const { locks, backend } = startLocks();
    const lease = await locks.acquire('a');
    expect(lease).toMatchObject({ key: 'a', mode: 'exclusive', state: 'held' });
    let isNext = false;
    const next = locks.acquire('a').then((granted) => ((isNext = true), granted));
    await backend.standing('a', 2);
    expect(isNext).toBe(false);
    await lease.release();
    const second = await next;
    expect(second.fencingToken).toBeGreaterThan(lease.fencingToken);
    expect([lease.isHeld(), lease.state, second.isHeld()]).toEqual([false, 'released', true]);
  });

  it('serves first come, first served', async () => {
    const { locks, backend } = startLocks();
    const held = await locks.acquire('a');
    const order: number[] = [];
    const all = [1, 2, 3].map((n) => locks.using('a', () => order.push(n)));
    await backend.standing('a', 4);
    await held.release();
    await Promise.all(all);
    expect(order).toEqual([1, 2, 3]);
  });

  it('rejects with LockTimeoutError, and leaves the queue, when waitMs ran out', async () => {
    const { locks, backend } = startLocks();
    await using _held = await locks.acquire('a');
    await expect(locks.acquire('a', { waitMs: 1 })).rejects.toMatchObject({
      code: 'LOCK_TIMEOUT',
      key: 'a',
      waitMs: 1,
    });
    expect(backend.contenders('a')).toHaveLength(1);
  });

  it('takes its default waitMs from the connection', async () => {
    const { locks } = startLocks({ waitMs: 1 });
    await using _held = await locks.acquire('a');
    await expect(locks.acquire('a')).rejects.toMatchObject({ waitMs: 1 });
  });

  it('waits without a limit for Infinity, with no timer that would overflow', async () => {
    const { locks, backend } = startLocks();
    const held = await locks.acquire('a');
    const waiting = locks.acquire('a', { waitMs: Infinity });
    await backend.standing('a', 2);
    await held.release();
    expect((await waiting).isHeld()).toBe(true);
  });

  it('asks once with waitMs 0', async () => {
    const { locks, backend } = startLocks();
    await using _held = await locks.acquire('a', { waitMs: 0 });
    await expect(locks.acquire('a', { waitMs: 0 })).rejects.toBeInstanceOf(LockTimeoutError);
    expect(backend.requests.map(({ wait }) => wait)).toEqual([false, false]);
  });

  it('rejects with the caller’s own reason when its signal aborts, before or while it waits', async () => {
    const { locks, backend } = startLocks();
    await using _held = await locks.acquire('a');
    const reason = { mine: true };
    await expect(locks.acquire('a', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(backend.requests).toHaveLength(1);
    const caller = new AbortController();
    const waiting = locks.acquire('a', { signal: caller.signal });
    await backend.standing('a', 2);
    caller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    expect(backend.contenders('a')).toHaveLength(1);
  });

  it('keeps a granted lease when the signal aborts later', async () => {
    const { locks } = startLocks();
    const caller = new AbortController();
    await using lease = await locks.acquire('a', { signal: caller.signal });
    caller.abort();
    expect([lease.isHeld(), lease.signal.aborted]).toEqual([true, false]);
  });
});

describe('tryAcquire', () => {
  it('is null when the key is held, and waits only with waitMs', async () => {
    const { locks, backend } = startLocks();
    const held = await locks.acquire('a');
    expect(await locks.tryAcquire('a')).toBeNull();
    expect(await locks.tryAcquire('a', { waitMs: 1 })).toBeNull();
    const waiting = locks.tryAcquire('a', { waitMs: 60_000 });
    await backend.standing('a', 2);
    await held.release();
    expect((await waiting)?.isHeld()).toBe(true);
  });

  it('rejects with the abort reason unchanged', async () => {
    const { locks } = startLocks();
    await expect(locks.tryAcquire('a', { signal: AbortSignal.abort('mine') })).rejects.toBe('mine');
  });
});

describe('using', () => {
  it('passes the lease to the work, and has released it when it resolves with the result', async () => {
    const { locks, backend } = startLocks();
    let seen: Lease | undefined;
    expect(await locks.using('a', (lease) => ((seen = lease), 'result'))).toBe('result');
    expect(seen?.state).toBe('released');
    expect(backend.busyKeys).toEqual([]);
  });

  it('rejects with the error of the work unchanged, thrown or rejected', async () => {
    const { locks, backend } = startLocks();
    const own = new TypeError('its own');
    const throwing = () => {
      throw own;
    };
    await expect(locks.using('a', throwing)).rejects.toBe(own);
    await expect(locks.using('a', async () => throwing())).rejects.toBe(own);
    await expect(locks.using('a', () => Promise.reject(new LockTimeoutError('b', 5)))).rejects.toMatchObject({
      key: 'b',
    });
    expect(backend.busyKeys).toEqual([]);
  });

  const lose = (lease: Lease, backend: ReturnType<typeof startLocks>['backend']) =>
    backend.leaseOn(lease.key)?.lose(new LockLostError(lease.key, 'test'));

  it('rejects with the loss when the lease was lost, after the work has ended', async () => {
    const { locks, backend } = startLocks();
    let hasEnded = false;
    const running = locks.using('a', async (lease) => {
      lose(lease, backend);
      expect([lease.signal.aborted, lease.isHeld(), lease.state]).toEqual([true, false, 'lost']);
      await new Promise((resolve) => setImmediate(resolve));
      hasEnded = true;
    });
    await expect(running).rejects.toMatchObject({ code: 'LOCK_LOST', key: 'a' });
    expect([hasEnded, backend.busyKeys]).toEqual([true, []]);
  });

  it("resolves with the result of work whose lease was lost, with onLost: 'ignore'", async () => {
    const { locks, backend } = startLocks();
    const work = (lease: Lease) => (lose(lease, backend), 'result');
    expect(await locks.using('a', work, { onLost: 'ignore' })).toBe('result');
  });

  it('prefers the error of the work to the loss', async () => {
    const { locks, backend } = startLocks();
    const running = locks.using('a', async (lease) => {
      lose(lease, backend);
      throw new TypeError('its own');
    });
    await expect(running).rejects.toThrow(TypeError);
  });

  it('lets the work release its lease early, which is no loss', async () => {
    const { locks } = startLocks();
    expect(await locks.using('a', async (lease) => (await lease.release(), 'result'))).toBe('result');
  });
});

describe('mutex, readWriteLock', () => {
  it("is not queued, and never waits, with line: 'none'", async () => {
    const { locks, backend } = startLocks();
    const lock = locks.mutex('a', { line: 'none' });
    await using _held = await lock.acquire();
    expect(await lock.tryAcquire()).toBeNull();
    await expect(lock.acquire()).rejects.toMatchObject({ waitMs: 0 });
    await expect(lock.acquire({ waitMs: 5 })).rejects.toThrow("waitMs must be 0 where line is 'none'");
    expect(backend.requests.every(({ line, wait }) => line === 'none' && !wait)).toBe(true);
  });

  it('is one lock for a mutex and a read-write lock of one key', async () => {
    const { locks } = startLocks();
    const { read, write } = locks.readWriteLock('a');
    await using first = await read.acquire();
    await using second = await read.acquire();
    expect([first.mode, second.mode]).toEqual(['read', 'read']);
    expect(await write.tryAcquire()).toBeNull();
    expect(await locks.tryAcquire('a')).toBeNull();
  });

  it('does not let readers that come later overtake a writer that waits', async () => {
    const { locks, backend } = startLocks();
    const { read, write } = locks.readWriteLock('a');
    const reader = await read.acquire();
    const writing = write.acquire();
    await backend.standing('a', 2);
    expect(await read.tryAcquire()).toBeNull();
    await reader.release();
    expect((await writing).mode).toBe('write');
  });
});

describe('options', () => {
  it.each([
    [{ waitMs: -1 }, 'waitMs must be a number of milliseconds'],
    [{ waitMs: Number.NaN }, 'waitMs must be a number of milliseconds'],
    [{ signal: {} }, 'signal must be an AbortSignal'],
    [{ reentrant: 'yes' }, 'reentrant must be true or false'],
    [{ label: 5 }, 'label must be a string'],
    [{ onLost: 'shrug' }, "onLost must be 'throw' or 'ignore'"],
    [{ timeout: 5 }, 'unknown field "timeout"'],
  ])('%o is refused, and no request is made', async (wrong, message) => {
    const { locks, backend } = startLocks();
    const options = wrong as UsingOptions;
    for (const attempt of [
      locks.acquire('a', options),
      locks.tryAcquire('a', options),
      locks.using('a', () => {}, options),
      locks.multi(['a']).using(() => {}, options),
    ]) {
      await expect(attempt).rejects.toBeInstanceOf(LockConfigurationError);
      await expect(attempt).rejects.toThrow(message);
    }
    expect(backend.requests).toEqual([]);
  });

  it('refuses an unknown line', () => {
    const { locks } = startLocks();
    const line = 'queue' as 'fifo';
    expect(() => locks.mutex('a', { line })).toThrow("line must be 'fifo' or 'none'");
  });
});

describe('starting and stopping', () => {
  it("waits for the connection with connectOnStart: 'required', and fails with it", async () => {
    const { locks, backend } = startLocks();
    const connection = deferred();
    backend.connect = () => connection.promise;
    const starting = locks.onModuleInit();
    connection.reject(new TypeError('no servers'));
    await expect(starting).rejects.toThrow('no servers');
    // Nest shuts nothing down that failed to start.
    expect(backend.closes).toBe(1);
  });

  it("starts without a connection with connectOnStart: 'background'", async () => {
    const { locks, backend } = startLocks({ connectOnStart: 'background' });
    backend.connect = () => Promise.reject(new TypeError('no servers'));
    await expect(locks.onModuleInit()).resolves.toBeUndefined();
  });

  it('rejects waiters first, then grants what is free, then nothing', async () => {
    const { locks, backend } = startLocks();
    const held = await locks.acquire('a');
    const waiting = expect(locks.acquire('a')).rejects.toMatchObject({ code: 'LOCK_SHUTDOWN', key: 'a' });
    await backend.standing('a', 2);
    locks.beforeApplicationShutdown();
    await waiting;
    await (await locks.acquire('free')).release();
    await expect(locks.acquire('a')).rejects.toMatchObject({ code: 'LOCK_SHUTDOWN' });
    expect(await locks.tryAcquire('a')).toBeNull();
    const closing = locks.onApplicationShutdown();
    await expect(locks.acquire('free')).rejects.toMatchObject({ code: 'LOCK_SHUTDOWN' });
    expect(backend.closes).toBe(0);
    await held.release();
    await closing;
    expect([backend.closes, backend.busyKeys]).toEqual([1, []]);
  });

  it('ends leases that are not released within drainTimeoutMs', async () => {
    const { locks, backend } = startLocks({ drainTimeoutMs: 1 });
    const lease = await locks.acquire('a');
    await locks.onApplicationShutdown();
    expect(lease.signal.reason).toMatchObject({ code: 'LOCK_SHUTDOWN' });
    expect([lease.state, backend.closes, backend.busyKeys]).toEqual(['lost', 1, []]);
  });

  it('gives back a lease that is granted after the stop', async () => {
    const { locks, backend } = startLocks();
    const arriving = expect(locks.acquire('a')).rejects.toMatchObject({ code: 'LOCK_SHUTDOWN' });
    await locks.onApplicationShutdown();
    await arriving;
    expect(backend.busyKeys).toEqual([]);
  });
});
