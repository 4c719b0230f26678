import { LockConfigurationError } from '../contract/errors.js';
import type { ResolvedCronLockOptions } from './cron-lock.options.js';
import type { Schedule, ScheduleOf } from './schedule.js';

/** The key of a job that sets none. */
export function defaultKey(name: string): string {
  return `cron/${name}`;
}

/** A method that is run on a schedule, once in the cluster. */
export interface ScheduledJob {
  /** The name given in its schedule, else `Class.method`. */
  readonly name: string;
  readonly key: string;
  /** The title for messages, such as `@CronLock on Reports.daily`. */
  readonly title: string;
  readonly schedule: Schedule | undefined;
  readonly atLeastMs: number;
  readonly options: ResolvedCronLockOptions;
}

// Class names that people choose are longer. Minifiers use as few characters as possible.
const LONGEST_MINIFIED_NAME = 2;
// The tolerance for timers that are early or late, and for replies of the servers that take longer at one time than
// another.
const TOLERANCE = 0.1;
const LARGEST_TOLERANCE_MS = 1_000;

/**
 * Returns the job of a method.
 * @param place `Class.method`, of the application's class that has the method: two classes that inherit it are two jobs
 * @throws LockConfigurationError when nothing says how often the method may run, or nothing names it for good
 */
export function scheduledJob(place: string, found: ScheduleOf, options: ResolvedCronLockOptions): ScheduledJob {
  const title = `@CronLock on ${place}`;
  const { schedule, name = place } = found;
  if (!schedule && options.atLeastMs === undefined) throw unscheduled(title);
  if (found.name === undefined && options.key === undefined) refuseMinified(place, title);
  const { key = defaultKey(name), atLeastMs = shortestOf(schedule) } = options;
  return { name, key, title, schedule, atLeastMs, options };
}

/**
 * Refuses a minified class name: nothing else would identify the job, and every build may give the class another name.
 */
function refuseMinified(place: string, title: string): void {
  const className = place.slice(0, place.indexOf('.'));
  if (className.length > LONGEST_MINIFIED_NAME) return;
  throw new LockConfigurationError(
    `${title}: the job has no name but "${place}", and the class name looks minified: each build may have another. Name ` +
      "the job: @Cron(…, { name: 'cleanup' }), or @CronLock({ key: 'cleanup' })",
  );
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
