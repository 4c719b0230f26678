import { afterEach, describe, expect, it, vi } from 'vitest';
import { followingBy, nominalTick } from '../../../lib/schedule/schedule.js';
import type { Marker } from '../../../lib/schedule/marker.js';
import { tickStatusOf } from '../../../lib/schedule/marker.js';
import { cron } from './cron-package.js';
import { jobWith } from './jobs.js';

afterEach(() => void vi.useRealTimers());

const job = jobWith();

function markerOf(tick: number | undefined, state: Marker['state'] = 'done', attempt = 1): Marker {
  const runner = { host: 'host', pid: 1 };
  return { name: job.name, key: job.key, tick, state, runner, runId: 'id', attempt, startedAt: 0 };
}

/** The firing of a real expression at an instant, which is also the time of the clock. */
function firingAt(expression: string, timeZone: string, instant: string, inJob = job) {
  const now = Date.parse(instant);
  vi.useFakeTimers({ now, toFake: ['Date'] });
  const following = followingBy(new cron.CronTime(expression, timeZone));
  return { job: inJob, now, following, tick: nominalTick(following, now) };
}

describe('tickStatusOf', () => {
  const hourly = firingAt('0 0 * * * *', 'UTC', '2026-01-01T12:00:00.123Z');
  const tick = Date.parse('2026-01-01T12:00:00Z');

  it.each([
    ['nobody has run it yet', undefined, 'due'],
    ['an earlier tick was run', markerOf(tick - 3_600_000), 'due'],
    ['an earlier tick is being run, or was not finished', markerOf(tick - 3_600_000, 'running'), 'due'],
    ['this tick was run', markerOf(tick), 'taken'],
    ['this tick is being run, or was not finished', markerOf(tick, 'running'), 'taken'],
    ['this tick was lost', markerOf(tick, 'lost'), 'taken'],
    ['a later tick was run', markerOf(tick + 3_600_000), 'taken'],
    ['the job had no ticks before', markerOf(undefined), 'due'],
  ] as const)('when %s', (_when, marker, expected) => {
    expect(tickStatusOf(marker, hourly)).toBe(expected);
  });

  it.each([
    ['is being run', markerOf(tick, 'running'), 'unfinished'],
    ['was lost', markerOf(tick, 'lost'), 'unfinished'],
    ['was begun often enough', markerOf(tick, 'running', 3), 'taken'],
    ['has failed', markerOf(tick, 'failed'), 'taken'],
  ] as const)("with onCrash: 'rerun', when the tick %s", (_when, marker, expected) => {
    expect(tickStatusOf(marker, { ...hourly, job: jobWith({ onCrash: 'rerun' }) })).toBe(expected);
  });

  it('lets a daily job run once in a night with a repeated hour', () => {
    // For an instance that is started in the second of the two hours, 1:30 is still to come according to cron.
    const second = firingAt('0 30 1 * * *', 'America/New_York', '2025-11-02T06:30:00.010Z');
    expect(second.tick).toBe(Date.parse('2025-11-02T06:30:00Z'));
    expect(tickStatusOf(markerOf(Date.parse('2025-11-02T05:30:00Z')), second)).toBe('taken');
    expect(tickStatusOf(markerOf(Date.parse('2025-11-01T05:30:00Z')), second)).toBe('due');
    const nextDay = firingAt('0 30 1 * * *', 'America/New_York', '2025-11-03T06:30:00.010Z');
    expect(tickStatusOf(markerOf(Date.parse('2025-11-02T05:30:00Z')), nextDay)).toBe('due');
  });
});
