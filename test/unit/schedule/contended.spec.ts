import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { cluster, KEY } from './cluster.js';
import { jobWith } from './jobs.js';

// Half a minute of the clock that patience is measured by.
vi.mock('../../../lib/async/clock.js', () => ({ now: () => Date.now() }));
beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a lock that somebody has who runs nothing', () => {
  it('is looked at for half a minute, and then the tick is skipped', async () => {
    const { one, other } = cluster(2);
    const held = await other.locks.jobLock(KEY, 'fifo').acquire();
    const firing = one.jobs.fire(jobWith(), async () => 'ran');
    await vi.advanceTimersByTimeAsync(29_000);
    expect(one.skips).toEqual([]);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(one.skips).toEqual(['contended']);
    expect(await firing).toBeUndefined();
    expect(vi.getTimerCount()).toBe(0);
    await held.release();
  });
});
