import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { cluster, KEY } from './cluster.js';
import { jobWith } from './jobs.js';
import { connectionOf } from '../../../lib/service/lock.service.js';

// The time limit for a contended lock is half a minute of this clock, which fake timers then control.
vi.mock('../../../lib/async/clock.js', () => ({ now: () => Date.now() }));
beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a job lock whose holder runs nothing', () => {
  it('is waited for during half a minute, and then the tick is skipped', async () => {
    const { one, other } = cluster(2);
    const held = await connectionOf(other.locks).jobLock(KEY, 'fifo').acquire();
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
