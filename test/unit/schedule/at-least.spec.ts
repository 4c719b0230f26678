import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { resolveCronLockOptions } from '../../../lib/schedule/cron-lock.options.js';
import type { CronLockOptions } from '../../../lib/schedule/cron-lock.options.js';
import type { Schedule } from '../../../lib/schedule/schedule.js';
import { scheduledJob } from '../../../lib/schedule/scheduled-job.js';
import { blocking, cluster, die, KEY } from './cluster.js';
import { jobWith } from './jobs.js';
import { connectionOf } from '../../../lib/service/lock.service.js';

const EVERY_MINUTE: Schedule = { kind: 'interval', ms: 60_000 };
const ONCE: Schedule = { kind: 'timeout', ms: 10 };

// The clock of the memory backend represents the servers' clock. The clocks of the nodes do not move.
beforeEach(() => void vi.useFakeTimers({ now: 0, toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());
const serversPass = (ms: number) => vi.setSystemTime(Date.now() + ms);

describe('atLeastMs', () => {
  it("is counted on the servers' clock, from the beginning of the previous run", async () => {
    const { one, other } = cluster(2);
    const job = jobWith({ atLeastMs: 5_000 }, EVERY_MINUTE);
    const ran = vi.fn<() => Promise<void>>(async () => void serversPass(2_000));
    await one.jobs.fire(job, ran);
    serversPass(2_999);
    await other.jobs.fire(job, ran);
    expect([other.skips, ran.mock.calls.length]).toEqual([['early'], 1]);
    serversPass(1);
    await other.jobs.fire(job, ran);
    expect(ran).toHaveBeenCalledTimes(2);
  });

  it('is not restarted by a firing that comes too early', async () => {
    const { one } = cluster(1);
    const job = jobWith({ atLeastMs: 5_000 }, EVERY_MINUTE);
    const ran = vi.fn<() => Promise<void>>(async () => {});
    for (let second = 0; second <= 10; second++) {
      await one.jobs.fire(job, ran);
      serversPass(1_000);
    }
    expect(ran).toHaveBeenCalledTimes(3);
  });

  it('counts from the beginning of a crashed run, too', async () => {
    const { one, other, backend } = cluster(2);
    const job = jobWith({ atLeastMs: 5_000 }, EVERY_MINUTE);
    const crashed = blocking();
    void one.jobs.fire(job, crashed.body).catch(() => {});
    await crashed.entered;
    await die(backend);
    for (let second = 0; second < 4; second++) {
      serversPass(1_000);
      expect(await other.jobs.fire(job, async () => 'ran')).toBeUndefined();
    }
    serversPass(1_000);
    expect(await other.jobs.fire(job, async () => 'ran')).toBe('ran');
    expect(other.skips).toEqual(['early', 'early', 'early', 'early']);
  });

  it('limits the runs of different ticks as well', async () => {
    const { one, clock } = cluster(1);
    const job = jobWith({ atLeastMs: 2_500 });
    const ran = vi.fn<() => Promise<void>>(async () => {});
    for (let second = 0; second < 7; second++) {
      await one.jobs.fire(job, ran);
      clock.now += 1_000;
      serversPass(1_000);
    }
    expect(ran).toHaveBeenCalledTimes(3);
    expect(one.skips).toEqual(['early', 'early', 'early', 'early']);
  });

  it('is the interval of an @Interval by default, less the inaccuracy of timers', () => {
    const atLeastMs = (schedule: Schedule, options: CronLockOptions = {}) =>
      scheduledJob('Reports.daily', { name: undefined, schedule }, resolveCronLockOptions('Reports.daily', options))
        .atLeastMs;
    expect(atLeastMs({ kind: 'interval', ms: 1_000 })).toBe(900);
    expect(atLeastMs(EVERY_MINUTE)).toBe(59_000);
    expect(atLeastMs(EVERY_MINUTE, { atLeastMs: 10 })).toBe(10);
    expect(atLeastMs(ONCE)).toBe(0);
  });
});

describe('a job without ticks', () => {
  it('runs once for concurrent calls, however short it is', async () => {
    const { nodes, other } = cluster(5);
    const ran = vi.fn<() => Promise<void>>(async () => {});
    const job = jobWith({}, ONCE);
    const looking = await connectionOf(other.locks).jobLock(KEY, 'fifo').acquire();
    const firings = nodes.map(({ jobs }) => jobs.fire(job, ran));
    await looking.release();
    await Promise.all(firings);
    expect(ran).toHaveBeenCalledTimes(1);
    expect(nodes.flatMap(({ skips }) => skips)).toEqual(['taken', 'taken', 'taken', 'taken']);
  });

  it('runs again when it is called again', async () => {
    const { one, other } = cluster(2);
    expect(await one.jobs.fire(jobWith({}, ONCE), async () => 'one')).toBe('one');
    expect(await other.jobs.fire(jobWith({}, ONCE), async () => 'other')).toBe('other');
    expect(await one.runs.last('daily')).toMatchObject({ tick: undefined, state: 'done' });
  });
});
