import type { ResolvedCronLockOptions } from '../schedule/cron-lock.options.js';
import { scheduleOf } from '../schedule/schedule.js';
import type { ScheduleOf } from '../schedule/schedule.js';
import { scheduledJob } from '../schedule/scheduled-job.js';
import type { ScheduledJob } from '../schedule/scheduled-job.js';
import { isOverriddenIn } from './decorated-place.js';
import type { DecoratedPlace } from './decorated-place.js';
import { ResultCheck } from './method-result.js';

/**
 * A method with `@CronLock`, in its class and in every subclass. The schedule is read from the finished method, not
 * when the class is made: `@Cron` may be above, or in a subclass.
 */
export class DeclaredJob {
  readonly #at: DecoratedPlace;
  readonly #options: ResolvedCronLockOptions;
  readonly #original: Function;
  readonly #result: ResultCheck;
  readonly #jobs = new WeakMap<object, ScheduledJob>();

  constructor(at: DecoratedPlace, options: ResolvedCronLockOptions, original: Function) {
    this.#at = at;
    this.#result = new ResultCheck(at);
    this.#options = options;
    this.#original = original;
  }

  /**
   * Returns the job for the instance's class.
   * @throws LockConfigurationError when nothing says how often the method may run
   */
  jobOf(instance: object): ScheduledJob {
    const prototype: object = Object.getPrototypeOf(instance);
    const known = this.#jobs.get(prototype);
    if (known) return known;
    const place = `${prototype.constructor.name}.${String(this.#at.name)}`;
    const job = scheduledJob(place, this.#scheduleIn(prototype), this.#options);
    this.#jobs.set(prototype, job);
    return job;
  }

  /** Whether the instance's class overrides this method, so that only the overriding method can call it. */
  isOverriddenIn(instance: object): boolean {
    return isOverriddenIn(instance, this.#at);
  }

  /** Calls the method without its lock. */
  call(instance: object, args: readonly unknown[]): unknown {
    return this.#result.checked(Reflect.apply(this.#original, instance, args));
  }

  #scheduleIn(prototype: object): ScheduleOf {
    const method: unknown = Reflect.get(prototype, this.#at.name);
    const found = isObject(method) ? scheduleOf(method) : undefined;
    if (found?.schedule) return found;
    // The overriding method has no schedule of its own and calls this method, so this method's schedule applies.
    const own: unknown = Reflect.get(this.#at.prototype, this.#at.name);
    return isObject(own) ? scheduleOf(own) : { name: undefined, schedule: undefined };
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'function' || (typeof value === 'object' && value !== null);
}
