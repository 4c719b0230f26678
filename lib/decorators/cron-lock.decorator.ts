import { LockConfigurationError } from '../contract/errors.js';
import { resolveCronLockOptions } from '../schedule/cron-lock.options.js';
import type { CronLockOptions } from '../schedule/cron-lock.options.js';
import { currentRun } from '../schedule/current-run.js';
import { guardedJobsOf } from '../schedule/guarded-jobs.js';
import type { GuardedJobs } from '../schedule/guarded-jobs.js';
import { decoratedPlace, needParentheses } from './decorated-place.js';
import { DeclaredJob } from './declared-job.js';
import { disguised } from './lock-method.js';
import { registerLockedMethod, serviceFor } from './locked-method.js';
import type { LockedMethod } from './locked-method.js';
import type { CronLockDecorator } from './method-check.js';
import { noteLock } from './wrappers.js';

const NAME = '@CronLock';

/**
 * Runs a scheduled job on one instance of the cluster. Goes above or below `@Cron`, `@Interval` or `@Timeout`, on a
 * method that is `async`.
 *
 * - A `@Cron` job runs once for each nominal tick, whatever the clocks of the instances say.
 * - An `@Interval` job runs not more often than its interval.
 * - A `@Timeout` job runs on one instance at a time.
 *
 * - The lock is held for the whole run. A tick that comes while an earlier one is still run is skipped.
 * - A call that is not to run resolves to `undefined`. It writes a line to the debug log and an event to
 *   `CronRunsService`. It never throws because another instance runs the job, and it never runs without its lock.
 * - Inside the method, `currentLease()` returns the lease, and `currentRun()` returns the run with its tick.
 * - A session that is lost while the method runs aborts the lease's `signal`. The tick counts as `lost`, and with
 *   `onCrash: 'rerun'` another instance runs it again.
 * - The method's own errors reach the scheduler unchanged, and the tick counts as `failed`.
 *
 * A direct call of the method counts as a firing at this instant: it is skipped when the latest tick has been run. When
 * a job overrides one of the same key, its call of `super.method()` is part of the run.
 *
 * The job belongs to the module's `service`: a job of the same name in another service is a different job.
 *
 * @throws LockConfigurationError when the method is not scheduled, no scheduler runs, or the module names no service;
 *   LockLostError after the method has ended (see `onLost`); LockUnavailableError (see `onUnavailable`)
 */
export function CronLock(options: CronLockOptions = {}): CronLockDecorator {
  needParentheses(`${NAME}()`, arguments);
  const decorate = <T>(target: object, name: string | symbol, descriptor: TypedPropertyDescriptor<T>): void => {
    const at = decoratedPlace(NAME, target, name, descriptor);
    const { title } = at;
    const resolved = resolveCronLockOptions(title, options);
    const original = descriptor.value;
    if (typeof original !== 'function') return;
    refuseGenerator(title, original);
    const job = new DeclaredJob(at, resolved, original);
    const method = registerLockedMethod({ ...at, job }, resolved.connection);
    const wrapper = disguised(original, async (_, instance, args) => {
      const jobs = jobsFor(method, instance);
      const call = () => job.call(instance as object, args);
      const scheduled = job.jobOf(instance as object);
      // A call of super.method() by the overriding job is part of that run, under its lease.
      const isPart = currentRun()?.key === scheduled.key && job.isOverriddenIn(instance as object);
      return isPart ? call() : jobs.fire(scheduled, call);
    });
    descriptor.value = wrapper;
    noteLock(method, wrapper, original);
  };
  return decorate as CronLockDecorator;
}

/**
 * Returns the jobs of the connection that the instance was given.
 * @throws LockConfigurationError when there are none
 */
export function jobsFor(method: LockedMethod, instance: unknown): GuardedJobs {
  const jobs = guardedJobsOf(serviceFor(method, instance));
  if (jobs) return jobs;
  throw new LockConfigurationError(`${method.title}: its LockService was not made by LockModule, so it did not run`);
}

function refuseGenerator(title: string, original: object): void {
  if (!/Generator/.test(Object.prototype.toString.call(original))) return;
  throw new LockConfigurationError(`${title}: a generator does nothing when a scheduler calls it`);
}
