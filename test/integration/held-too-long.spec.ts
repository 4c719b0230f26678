import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { deferred } from '../../lib/async/deferred.js';
import { LockOverdueError } from '../../lib/index.js';
import type { HoldingOptions, Lease, Lock, LockService } from '../../lib/index.js';
import { freshBasePath } from '../support/base-path.js';
import { openService } from '../support/services.js';

const connectString = inject('zookeeper');

const LIMITS = { maxHeldMs: 500, overdueGraceMs: 250 };
// Longer than a busy machine takes from the grant to the work, because work that is overdue by then never begins.
const LIMITS_OF_WORK = { ...LIMITS, maxHeldMs: 2_000 };

beforeEach(() => void vi.spyOn(Logger.prototype, 'warn').mockReturnValue());
afterEach(() => void vi.restoreAllMocks());

/** Two services that are separate processes for the servers. */
async function twoProcesses(localLine: boolean) {
  const basePath = freshBasePath();
  const own = await openService({ connectString, basePath, localLine });
  const other = await openService({ connectString, basePath, localLine });
  return { own, other };
}

const KINDS: readonly (readonly [string, (locks: LockService, limits?: HoldingOptions) => Lock])[] = [
  ['a mutex', (locks, limits) => locks.mutex('k', limits)],
  ['a writer', (locks, limits) => locks.readWriteLock('k', limits).write],
  ['a permit', (locks, limits) => locks.semaphore('k', { permits: 1, ...limits })],
  ['several keys', (locks, limits) => locks.multi(['k', 'l'], limits)],
  ['several keys at once', (locks, limits) => locks.multi(['k', 'l'], { atomic: true, ...limits })],
  ['a segment', (locks, limits) => locks.segmented('k', { segments: 1, ...limits })],
];

describe.each([true, false])('an overdue holder, with localLine: %s', (localLine) => {
  it.each(KINDS)('hands over to another process, with a larger token: %s', async (_kind, lockOf) => {
    const { own, other } = await twoProcesses(localLine);
    const [end, begun] = [deferred(), deferred<Lease>()];
    const overdue = lockOf(own, LIMITS_OF_WORK).using((lease) => (begun.resolve(lease), end.promise));
    const first = await begun.promise;
    const next = await lockOf(other).acquire();
    expect(first.isHeld()).toBe(false);
    expect(next.fencingToken).toBeGreaterThan(first.fencingToken);
    end.resolve();
    await expect(overdue).rejects.toBeInstanceOf(LockOverdueError);
    await first.release();
    // No other contender has taken the key from the next holder.
    expect(await lockOf(own).tryAcquire()).toBeNull();
    expect([next.state, next.isHeld()]).toEqual(['held', true]);
    await next.release();
  });

  it.each(KINDS)('hands over to a caller of its own process, with a larger token: %s', async (_kind, lockOf) => {
    const { own } = await twoProcesses(localLine);
    const first = await lockOf(own, LIMITS).acquire();
    const next = await lockOf(own).acquire();
    expect([first.state, first.isHeld()]).toEqual(['lost', false]);
    expect(next.fencingToken).toBeGreaterThan(first.fencingToken);
    await first.release();
    expect(next.isHeld()).toBe(true);
    await next.release();
  });

  it('is one reader, and the other readers keep their leases', async () => {
    const { own, other } = await twoProcesses(localLine);
    const patient = await own.readWriteLock('k').read.acquire();
    const first = await own.readWriteLock('k', LIMITS).read.acquire();
    await expect.poll(() => first.state).toBe('lost');
    expect([patient.state, patient.isHeld()]).toEqual(['held', true]);
    const writing = other.readWriteLock('k').write.acquire();
    await patient.release();
    const writer = await writing;
    expect(writer.fencingToken).toBeGreaterThan(first.fencingToken);
    await writer.release();
  });
});
