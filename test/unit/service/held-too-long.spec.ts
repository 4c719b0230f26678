import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { deferred } from '../../../lib/async/deferred.js';
import { LockOverdueError } from '../../../lib/contract/errors.js';
import type { Lease } from '../../../lib/contract/lease.js';
import type { Lock } from '../../../lib/contract/lock.js';
import { ElectionClient } from '../../../lib/service/election-client.js';
import type { LockService } from '../../../lib/service/lock.service.js';
import type { LockServiceOptions } from '../../../lib/service/lock-service.options.js';
import { currentSegment } from '../../../lib/service/segments.js';
import { startLocks } from './locks.js';
import { connectionOf } from '../../../lib/service/lock.service.js';

// The test sets the time.
const clock = vi.hoisted(() => ({ ms: 1_000 }));
vi.mock('../../../lib/async/clock.js', () => ({ now: () => clock.ms }));

let warned: string[] = [];

beforeEach(() => {
  warned = [];
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  vi.spyOn(Logger.prototype, 'warn').mockImplementation((message) => void warned.push(String(message)));
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

async function pass(ms: number): Promise<void> {
  for (let leftMs = ms; leftMs > 0; leftMs -= 100) {
    const stepMs = Math.min(leftMs, 100);
    clock.ms += stepMs;
    await vi.advanceTimersByTimeAsync(stepMs);
  }
}

const start = (options: Partial<LockServiceOptions> = {}) => startLocks({ warnHeldMs: 1_000, ...options });

/** Every kind of lock, and how the log describes its leases. */
const KINDS: readonly (readonly [string, string, (locks: LockService) => Lock])[] = [
  ['a mutex', '"stock"', (locks) => locks.mutex('stock')],
  ['a mutex in the local line', '"stock"', (locks) => locks.mutex('stock', { localLine: true })],
  ['a mutex without a line', '"stock"', (locks) => locks.mutex('stock', { line: 'none' })],
  ['a reader', '"stock"', (locks) => locks.readWriteLock('stock').read],
  ['a reader in the local line', '"stock"', (locks) => locks.readWriteLock('stock', { localLine: true }).read],
  ['a writer', '"stock"', (locks) => locks.readWriteLock('stock').write],
  ['a semaphore', '"stock"', (locks) => locks.semaphore('stock', { permits: 2 })],
  ['several keys', '"a, b"', (locks) => locks.multi(['b', 'a'])],
  ['several keys at once', '"a, b"', (locks) => locks.multi(['b', 'a'], { atomic: true })],
  ['a segment', 'segment 0 of "stock"', (locks) => locks.segmented('stock', { segments: 1 })],
];

const waiting = (lock: Lock) => (lock === undefined ? undefined : { waitMs: 0 });

describe.each(KINDS)('%s that is held for too long', (_kind, title, lockOf) => {
  it('is warned about once, with label and line of code, by acquire, tryAcquire and using', async () => {
    const { locks } = start();
    const lock = lockOf(locks);
    const end = deferred();
    const begun = deferred();
    await pass(10);
    const handle = await lock.acquire({ ...waiting(lock), label: 'by hand' });
    await pass(999);
    expect(warned).toEqual([]);
    await pass(1);
    expect(warned).toHaveLength(1);
    expect(warned[0]).toContain(`${title} has been held for 1000 ms (since ${handle.acquiredAt.toISOString()}`);
    expect(warned[0]).toMatch(/label "by hand", acquired at .*held-too-long\.spec\.ts:\d+:\d+\)/);
    await pass(10_000);
    await handle.release();
    await pass(10_000);
    expect(warned).toHaveLength(1);
    const once = await lock.tryAcquire();
    await pass(1_000);
    await once?.release();
    expect(warned[1]).toMatch(/^(?!.*label).*acquired at .*held-too-long\.spec\.ts:\d+:\d+\)/);
    const using = lock.using(() => (begun.resolve(), end.promise), waiting(lock));
    await begun.promise;
    await pass(1_000);
    end.resolve();
    await using;
    expect(warned[2]).toMatch(/acquired at .*held-too-long\.spec\.ts:\d+:\d+\)/);
    expect(warned).toHaveLength(3);
  });

  it('is revoked after maxHeldMs, and loses the key after the grace: acquire', async () => {
    const { locks, backend } = start({ maxHeldMs: 2_000, overdueGraceMs: 500, warnHeldMs: false });
    const lock = lockOf(locks);
    const lease = await lock.acquire(waiting(lock));
    const { signal } = lease;
    await pass(1_999);
    expect([lease.state, signal.aborted]).toEqual(['held', false]);
    await pass(1);
    expect([lease.state, lease.isHeld(), signal.reason]).toEqual(['revoking', true, expect.any(LockOverdueError)]);
    expect(signal.reason).toMatchObject({ atMostMs: 2_000 });
    await pass(499);
    expect(lease.isHeld()).toBe(true);
    await pass(1);
    expect([lease.state, lease.isHeld()]).toEqual(['lost', false]);
    expect(backend.busyKeys).toEqual([]);
    const next = await lock.acquire(waiting(lock));
    expect(next.fencingToken).toBeGreaterThan(lease.fencingToken);
    await lease.release();
    expect([next.state, next.isHeld()]).toEqual(['held', true]);
    await next.release();
    expect(warned).toHaveLength(2);
    expect(warned[0]).toContain(`${title} has been held for its maxHeldMs of 2000 ms (since`);
    const reason = 'it was held for its maxHeldMs of 2000 ms, and not given back within 500 ms';
    expect(warned[1]).toMatch(new RegExp(`^lost \\d leases?: ".*Reason: ${reason}`));
  });

  it('goes to the next caller while the work of using still runs, which rejects at its end', async () => {
    const { locks, backend } = start({ maxHeldMs: 2_000, overdueGraceMs: 500 });
    const lock = lockOf(locks);
    const [end, begun] = [deferred(), deferred()];
    let lease: Lease | undefined;
    const work = (own: Lease) => ((lease = own), begun.resolve(), end.promise);
    const overdue = lock.using(work, waiting(lock));
    const ended = vi.fn();
    overdue.catch(ended);
    await begun.promise;
    await pass(2_500);
    expect(lease?.state).toBe('lost');
    expect(backend.busyKeys).toEqual([]);
    const next = await lock.acquire(waiting(lock));
    expect(next.fencingToken).toBeGreaterThan(lease?.fencingToken ?? 0n);
    expect(ended).not.toHaveBeenCalled();
    end.resolve();
    await expect(overdue).rejects.toBeInstanceOf(LockOverdueError);
    expect([next.state, next.isHeld()]).toEqual(['held', true]);
    await next.release();
    expect(backend.busyKeys).toEqual([]);
  });

  it('rejects with the error of its work, and with onLost: ignore resolves with its result', async () => {
    const { locks } = start({ maxHeldMs: 2_000, overdueGraceMs: 500 });
    const lock = lockOf(locks);
    const failing = lock.using(async () => (await pass(2_500), Promise.reject(new Error('its own'))), waiting(lock));
    await expect(failing).rejects.toThrow('its own');
    const patient = lock.using(async () => (await pass(2_500), 'done'), { ...waiting(lock), onLost: 'ignore' });
    expect(await patient).toBe('done');
  });

  it('resolves normally when it ends within the grace', async () => {
    const { locks, backend } = start({ maxHeldMs: 2_000, overdueGraceMs: 500 });
    const lock = lockOf(locks);
    const result = lock.using(async ({ signal }) => (await pass(2_400), signal.aborted), waiting(lock));
    expect(await result).toBe(true);
    expect(backend.busyKeys).toEqual([]);
  });
});

describe('a caller of the same process', () => {
  it.each(['exclusive', 'write'] as const)('receives the key of an overdue holder: %s', async (mode) => {
    const { locks, backend } = start({ localLine: true, maxHeldMs: 2_000, overdueGraceMs: 500 });
    const lock = mode === 'write' ? locks.readWriteLock('k').write : locks.mutex('k');
    const end = deferred();
    const overdue = lock.using(() => end.promise).catch((error: unknown) => error);
    await pass(1);
    const waiters = [lock.acquire(), lock.acquire()];
    await pass(2_500);
    const next = await waiters[0]!;
    end.resolve();
    expect(await overdue).toBeInstanceOf(LockOverdueError);
    expect([next.state, next.isHeld()]).toEqual(['held', true]);
    const settled = vi.fn();
    void waiters[1]!.then(settled);
    await pass(100);
    expect(settled).not.toHaveBeenCalled();
    await next.release();
    const last = await waiters[1]!;
    expect(last.fencingToken).toBeGreaterThan(next.fencingToken);
    await last.release();
    expect(backend.busyKeys).toEqual([]);
  });

  it('keeps its own read lease beside an overdue reader', async () => {
    const { locks, backend } = start({ localLine: true, overdueGraceMs: 500 });
    const limited = await locks.readWriteLock('k', { maxHeldMs: 2_000 }).read.acquire();
    const other = await locks.readWriteLock('k').read.acquire();
    expect(backend.requests).toHaveLength(1);
    await pass(2_500);
    expect([limited.state, other.state, other.signal.aborted]).toEqual(['lost', 'held', false]);
    await limited.release();
    expect(other.isHeld()).toBe(true);
    await other.release();
    expect(backend.busyKeys).toEqual([]);
  });

  it('is notified together with the outer lease that it entered, and warned about once', async () => {
    const { locks } = start({ maxHeldMs: 2_000, overdueGraceMs: 500 });
    const states: string[] = [];
    const outer = locks.using('k', () =>
      locks.using('k', async (lease) => {
        await pass(1_500);
        states.push(lease.state);
        await pass(500);
        states.push(lease.state, (lease.signal.reason as Error).name);
        await pass(500);
        states.push(lease.state);
      }),
    );
    await expect(outer).rejects.toBeInstanceOf(LockOverdueError);
    expect(states).toEqual(['held', 'revoking', 'LockOverdueError', 'lost']);
    expect(warned.filter((line) => line.includes('for 1000 ms'))).toHaveLength(1);
  });

  it('is not watched twice when it enters a held lease with a set', async () => {
    const { locks } = start();
    await locks.multi(['a', 'b']).using(() => locks.multi(['b', 'a']).using(() => pass(1_500)));
    expect(warned).toEqual([expect.stringContaining('"a, b" has been held')]);
  });
});

describe('a limit for holding', () => {
  it('only revokes the lease when the grace is endless', async () => {
    const { locks } = start({ maxHeldMs: 2_000, overdueGraceMs: Infinity });
    const lease = await locks.acquire('k');
    await pass(100_000);
    expect([lease.state, lease.isHeld()]).toEqual(['revoking', true]);
    await lease.release();
  });

  it.each([false, 0, Infinity] as const)('is disabled by %o, even when the module has one', async (none) => {
    const { locks } = start({ maxHeldMs: 2_000 });
    const lease = await locks.mutex('k', { warnHeldMs: none, maxHeldMs: none }).acquire();
    await pass(100_000);
    expect([lease.state, warned]).toEqual(['held', []]);
    await lease.release();
  });

  it('is the module’s by default', async () => {
    const { locks } = start({ maxHeldMs: 2_000 });
    const short = await locks.mutex('short', { maxHeldMs: 10 }).acquire();
    const long = await locks.acquire('long');
    await pass(10);
    expect([short.state, long.state]).toEqual(['revoking', 'held']);
    await pass(1_990);
    expect(long.state).toBe('revoking');
    await Promise.all([short.release(), long.release()]);
  });

  it('applies to a suspended lease and to a revoked lease as well', async () => {
    const { locks, backend } = start({ maxHeldMs: 2_000, overdueGraceMs: 500 });
    const lease = await locks.acquire('k');
    backend.leaseOn('k')?.suspend();
    const asked = await locks.acquire('asked');
    backend.leaseOn('asked')?.revoke();
    await pass(2_500);
    expect([lease.state, asked.state]).toEqual(['lost', 'lost']);
    expect((asked.signal.reason as Error).name).toBe('LockRevokedError');
    expect(backend.busyKeys).toEqual([]);
  });

  it('ends a holder that prevents the application from closing', async () => {
    const { locks } = start({ maxHeldMs: 2_000, overdueGraceMs: 500, drainTimeoutMs: 60_000 });
    await locks.acquire('k');
    const closed = vi.fn();
    const closing = locks.onApplicationShutdown().then(closed);
    await pass(2_499);
    expect(closed).not.toHaveBeenCalled();
    await pass(1);
    await closing;
    expect(closed).toHaveBeenCalled();
  });
});

describe('no warning is logged about', () => {
  it('a warm lease', async () => {
    const { locks } = start();
    const lease = await locks.mutex('k', { keepMs: 60_000 }).acquire();
    await lease.release();
    await pass(50_000);
    expect(warned).toEqual([]);
  });

  it('a lease that was lost', async () => {
    const { locks, backend } = start();
    const end = deferred();
    const using = locks.using('k', () => end.promise, { onLost: 'ignore' });
    await pass(1);
    backend.leaseOn('k')?.lose(new LockOverdueError('k', 1));
    await pass(5_000);
    end.resolve();
    await using;
    expect(warned).toEqual([expect.stringContaining('lost 1 lease: "k"')]);
  });

  it('a leader, and the lock of a job', async () => {
    const { locks } = start({ maxHeldMs: 2_000 });
    const options = { waitMs: 0, signal: undefined, label: undefined, value: undefined };
    const { lease } = await new ElectionClient(connectionOf(locks)).stand('poller', options);
    const job = await connectionOf(locks).jobLock('report', 'fifo').acquire();
    await pass(100_000);
    expect([lease.state, job.state, warned]).toEqual(['held', 'held', []]);
    await Promise.all([lease.release(), job.release()]);
  });
});

describe('all segments of a key', () => {
  it('are warned about and ended as one', async () => {
    const { locks, backend } = start({ maxHeldMs: 2_000, overdueGraceMs: 500 });
    const lock = locks.segmented('stock', { segments: 4 });
    const held = lock.withAll(async (leases) => {
      expect(currentSegment()).toBeUndefined();
      await pass(2_500);
      expect(leases.map(({ state }) => state)).toEqual(['lost', 'lost', 'lost', 'lost']);
      expect(backend.busyKeys).toEqual([]);
    });
    await expect(held).rejects.toBeInstanceOf(LockOverdueError);
    expect(warned).toHaveLength(3);
    expect(warned[0]).toMatch(/^all segments of "stock" has been held for 1000 ms .*held-too-long\.spec\.ts/);
  });
});

describe('a set that has lost one of its keys', () => {
  it.each([false, true])('is warned about and ended anyway (atomic: %s)', async (atomic) => {
    const { locks, backend } = start({ maxHeldMs: 2_000, overdueGraceMs: 500 });
    await locks.multi(['a', 'b'], { atomic }).acquire();
    backend.leaseOn('a')?.lose(new LockOverdueError('a', 1));
    await pass(2_500);
    expect(backend.busyKeys).toEqual([]);
    expect(warned.filter((line) => line.startsWith('"a, b" has been held'))).toHaveLength(2);
  });

  it('is ended although work that was not awaited still holds one', async () => {
    const { locks, backend } = start({ maxHeldMs: 2_000, overdueGraceMs: 500 });
    let left: Promise<void> | undefined;
    await locks.multi(['a', 'b']).using(() => {
      left = locks.using('a', () => new Promise<void>(() => {}));
    });
    expect(backend.busyKeys).toEqual(['a']);
    await pass(2_500);
    expect(backend.busyKeys).toEqual([]);
    expect(left).toBeInstanceOf(Promise);
  });
});

describe('a lease', () => {
  it('takes options that are inherited', async () => {
    const { locks } = start();
    await locks.acquire('k');
    const refused = expect(locks.acquire('k', Object.create({ waitMs: 50 }))).rejects.toMatchObject({ waitMs: 50 });
    await pass(100);
    await refused;
  });

  it('leaves no watch after its release, and one timer at most', async () => {
    const { locks } = start({ maxHeldMs: 2_000 });
    for (let time = 0; time < 100; time++) {
      const lease = await locks.acquire(`k${time}`);
      await lease.release();
    }
    expect(vi.getTimerCount()).toBeLessThanOrEqual(1);
    await pass(2_000);
    expect(vi.getTimerCount()).toBe(0);
    expect(warned).toEqual([]);
  });

  it('is warned about even when its code location was not recorded', async () => {
    const { locks } = start();
    const first = await locks.acquire('first', { label: 'one' });
    const second = await locks.acquire('second', { label: 'two' });
    await pass(1_000);
    expect(warned[0]).toMatch(/label "one"(, acquired at .*spec\.ts:\d+:\d+)?\)/);
    expect(warned[1]).toMatch(/label "two"\)/);
    await Promise.all([first.release(), second.release()]);
  });
});
