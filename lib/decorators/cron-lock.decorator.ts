import { LockConfigurationError } from '../contract/errors.js';
import { resolveCronLockOptions } from '../schedule/cron-lock.options.js';
import type { CronLockOptions } from '../schedule/cron-lock.options.js';
import { currentRun } from '../schedule/current-run.js';
import { guardedJobsOf } from '../schedule/guarded-jobs.js';
import type { GuardedJobs } from '../schedule/guarded-jobs.js';
import { decoratedPlace, needParentheses } from './decorated-place.js';
import { DeclaredJob } from './declared-job.js';
import { disguised } from './disguised.js';
import { registerLockedMethod, serviceFor } from './locked-method.js';
import type { LockedMethod } from './locked-method.js';
import type { CronLockDecorator } from './method-check.js';
import { noteLock } from './wrappers.js';

const NAME = '@CronLock';

/**
 * Runs a scheduled job on one instance of the cluster: a `@Cron` job once for each nominal tick, whatever the clocks of
 * the instances say, an `@Interval` not more often than its interval, a `@Timeout` on one instance at a time. Goes
 * above or below `@Cron`, `@Interval` or `@Timeout`, on a method that is `async`.
 *
 * - The lock is held for the whole run. A tick that comes while an earlier one is still run is skipped.
 * - A call that is not to run resolves to `undefined`, with a line in the debug log and an event of `CronRunsService`;
 *   it never throws because somebody else has the job. It never runs without its lock.
 * - `currentLease()` and `currentRun()` tell the method's code what it holds and which tick it is about.
 * - A session that is lost while the method runs aborts the lease's `signal`; the tick counts as `lost`, and with
 *   `onCrash: 'rerun'` another instance runs it again.
 * - The method's own errors reach the scheduler as they are, and the tick counts as `failed`.
 *
 * A direct call of the method counts as a firing at this instant: it is skipped when the latest tick has been run. The call
 * of `super.method()` by a job that overrides one of the same key is part of the run.
 *
 * The job belongs to the module's `service`: another service's job of the same name is another job.
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
    const wrapper = disguised(original, async (instance, args) => {
      const jobs = jobsFor(method, instance);
      const call = () => job.call(instance as object, args);
      const scheduled = job.jobOf(instance as object);
      // Called as super.method() by the job that overrides it: part of that run, under its lease.
      const isPart = currentRun()?.key === scheduled.key && job.isOverriddenIn(instance as object);
      return isPart ? call() : jobs.fire(scheduled, call);
    });
    descriptor.value = wrapper;
    noteLock(method, wrapper, original);
  };
  return decorate as CronLockDecorator;
}

/** The jobs of the connection that the instance was given. @throws LockConfigurationError when there are none */
export function jobsFor(method: LockedMethod, instance: unknown): GuardedJobs {
  const jobs = guardedJobsOf(serviceFor(method, instance));
  if (jobs) return jobs;
  throw new LockConfigurationError(`${method.title}: its LockService was not made by LockModule, so it did not run`);
}

function refuseGenerator(title: string, original: object): void {
  if (!/Generator/.test(Object.prototype.toString.call(original))) return;
  throw new LockConfigurationError(`${title}: a generator does nothing when a scheduler calls it`);
}
