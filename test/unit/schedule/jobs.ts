import { Logger } from '@nestjs/common';
import { onTestFinished } from 'vitest';
import { LockService } from '../../../lib/service/lock.service.js';
import { resolveCronLockOptions } from '../../../lib/schedule/cron-lock.options.js';
import type { CronLockOptions } from '../../../lib/schedule/cron-lock.options.js';
import { CronRunsService } from '../../../lib/schedule/cron-runs.service.js';
import { guardedJobsOf } from '../../../lib/schedule/guarded-jobs.js';
import type { GuardedJobs } from '../../../lib/schedule/guarded-jobs.js';
import type { JobEvent, SkipReason } from '../../../lib/contract/job-event.js';
import type { Schedule } from '../../../lib/schedule/schedule.js';
import { scheduledJob } from '../../../lib/schedule/scheduled-job.js';
import type { ScheduledJob } from '../../../lib/schedule/scheduled-job.js';
import { ObservedBackend } from '../service/observed.backend.js';

export const EVERY_SECOND: Schedule = {
  kind: 'cron',
  registeredAs: undefined,
  cronTime: '* * * * * *',
  timeZone: undefined,
  utcOffset: undefined,
};

Logger.overrideLogger(false);

/** Ticks at each full second, or at each multiple of `periodMs`. */
const followingEvery = (periodMs: number) => (instant: number) => (Math.floor(instant / periodMs) + 1) * periodMs;

export function jobWith(options: CronLockOptions = {}, schedule: Schedule | undefined = EVERY_SECOND): ScheduledJob {
  return scheduledJob('Reports.daily', { name: 'daily', schedule }, resolveCronLockOptions('@CronLock', options));
}

/** One process of a cluster: its own LockService on the shared backend, and its own wall clock. */
export interface Node {
  readonly locks: LockService;
  readonly runs: CronRunsService;
  readonly jobs: GuardedJobs;
  readonly events: JobEvent[];
  /** The reasons of skipped calls, in order. */
  readonly skips: SkipReason[];
}

export function startNode(backend = new ObservedBackend(), wallNow?: () => number, periodMs = 1_000): Node {
  const options = {
    connectionName: 'default',
    service: 'test',
    waitMs: 60_000,
    drainTimeoutMs: 0,
    connectOnStart: 'required',
  } as const;
  const locks = new LockService(backend, options);
  const runs = new CronRunsService(locks, { followingOf: () => followingEvery(periodMs) }, wallNow);
  const events: JobEvent[] = [];
  const skips: SkipReason[] = [];
  runs.events.subscribe((event) => {
    events.push(event);
    if (event.type === 'skipped') skips.push(event.reason);
  });
  onTestFinished(async () => {
    runs.onModuleDestroy();
    locks.beforeApplicationShutdown();
    await locks.onApplicationShutdown();
  });
  return { locks, runs, jobs: guardedJobsOf(locks)!, events, skips };
}
