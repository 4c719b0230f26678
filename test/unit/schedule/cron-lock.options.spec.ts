import { describe, expect, it } from 'vitest';
import { LockConfigurationError } from '../../../lib/contract/errors.js';
import { resolveCronLockOptions } from '../../../lib/schedule/cron-lock.options.js';
import type { CronLockOptions } from '../../../lib/schedule/cron-lock.options.js';
import { scheduledJob } from '../../../lib/schedule/scheduled-job.js';

const TITLE = '@CronLock on Reports.daily';

describe('resolveCronLockOptions', () => {
  it('fills in the defaults', () => {
    expect(resolveCronLockOptions(TITLE, {})).toEqual({
      key: undefined,
      atLeastMs: undefined,
      atMostMs: Infinity,
      onCrash: 'skip',
      attempts: 3,
      onUnavailable: 'skip',
      onLost: 'throw',
      connection: 'default',
    });
  });

  it.each([
    ['key', { key: '' }],
    ['atLeastMs', { atLeastMs: -1 }],
    ['atMostMs', { atMostMs: 0 }],
    ['atMostMs', { atMostMs: 2 ** 31 }],
    ['onCrash', { onCrash: 'retry' }],
    ['attempts', { onCrash: 'rerun', attempts: 0 }],
    ['attempts', { attempts: 2 }],
    ['onUnavailable', { onUnavailable: 'run' }],
    ['onLost', { onLost: 'retry' }],
    ['connection', { connection: '' }],
    ['unknown field "atleastMs"', { atleastMs: 5 }],
  ])('names the wrong field and the place: %s', (field, options) => {
    const resolve = () => resolveCronLockOptions(TITLE, options as CronLockOptions);
    expect(resolve).toThrow(LockConfigurationError);
    expect(resolve).toThrow(`${TITLE}: ${field}`);
  });
});

describe('scheduledJob', () => {
  const job = (name: string | undefined, options: CronLockOptions = {}) =>
    scheduledJob(
      'Reports.daily',
      { name, schedule: { kind: 'timeout', ms: 1 } },
      resolveCronLockOptions(TITLE, options),
    );

  it('has the name of its schedule, else of its method', () => {
    expect(job('report')).toMatchObject({ name: 'report', key: 'cron/report' });
    expect(job(undefined)).toMatchObject({ name: 'Reports.daily', key: 'cron/Reports.daily' });
    expect(job('report', { key: 'rebuild' })).toMatchObject({ name: 'report', key: 'rebuild' });
  });

  it('is refused without a schedule or atLeastMs', () => {
    const unscheduled = { name: undefined, schedule: undefined };
    const make = (options: CronLockOptions) =>
      scheduledJob('Reports.daily', unscheduled, resolveCronLockOptions(TITLE, options));
    expect(() => make({})).toThrow(/^@CronLock on Reports\.daily: the method has no @Cron, @Interval or @Timeout/);
    expect(make({ atLeastMs: 1 }).atLeastMs).toBe(1);
  });
});
