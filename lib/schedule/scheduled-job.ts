import { LockConfigurationError } from '../contract/errors.js';
import type { ResolvedCronLockOptions } from './cron-lock.options.js';
import type { Schedule, ScheduleOf } from './schedule.js';

/** A method that is run on a schedule, once in the cluster. */
export interface ScheduledJob {
  /** The name given in its schedule, else `Class.method`. */
  readonly name: string;
  readonly key: string;
  /** `@CronLock on Reports.daily`, for messages. */
  readonly title: string;
  readonly schedule: Schedule | undefined;
  readonly atLeastMs: number;
  readonly options: ResolvedCronLockOptions;
}

// What timers may be early or late by, and the servers' answers slower at one time than at another.
const TOLERANCE = 0.1;
const LARGEST_TOLERANCE_MS = 1_000;

/**
 * @param place `Class.method`, of the class whose method it is in the application: two that inherit one are two jobs
 * @throws LockConfigurationError when nothing says how often the method may run
 */
export function scheduledJob(place: string, found: ScheduleOf, options: ResolvedCronLockOptions): ScheduledJob {
  const title = `@CronLock on ${place}`;
  const { schedule, name = place } = found;
  if (!schedule && options.atLeastMs === undefined) throw unscheduled(title);
  const { key = `cron/${name}`, atLeastMs = shortestOf(schedule) } = options;
  return { name, key, title, schedule, atLeastMs, options };
}

function shortestOf(schedule: Schedule | undefined): number {
  if (schedule?.kind !== 'interval') return 0;
  return schedule.ms - Math.min(schedule.ms * TOLERANCE, LARGEST_TOLERANCE_MS);
}

function unscheduled(title: string): LockConfigurationError {
  return new LockConfigurationError(
    `${title}: the method has no @Cron, @Interval or @Timeout, so nothing says when a run is due. Add one, say ` +
      'atLeastMs, or use @DistributedLock to run it one at a time',
  );
}
