import type { ResolvedCronLockOptions } from '../schedule/cron-lock.options.js';
import { scheduleOf } from '../schedule/schedule.js';
import type { ScheduleOf } from '../schedule/schedule.js';
import { scheduledJob } from '../schedule/scheduled-job.js';
import type { ScheduledJob } from '../schedule/scheduled-job.js';
import { isOverriddenIn } from './decorated-place.js';
import type { DecoratedPlace } from './decorated-place.js';
import { ResultCheck } from './result-check.js';

/**
 * A method with `@CronLock`, in its class and in all that inherit it. When it runs is read off the method as the
 * application has it, not when the class is made: `@Cron` may stand above, or in a subclass.
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

  /** @throws LockConfigurationError when nothing says how often the method may run */
  jobOf(instance: object): ScheduledJob {
    const prototype: object = Object.getPrototypeOf(instance);
    const known = this.#jobs.get(prototype);
    if (known) return known;
    const place = `${prototype.constructor.name}.${String(this.#at.name)}`;
    const job = scheduledJob(place, this.#scheduleIn(prototype), this.#options);
    this.#jobs.set(prototype, job);
    return job;
  }

  /** Whether the instance's class has a method of its own there, so that nothing calls this one but that may. */
  isOverriddenIn(instance: object): boolean {
    return isOverriddenIn(instance, this.#at);
  }

  /** The method without its lock. */
  call(instance: object, args: readonly unknown[]): unknown {
    return this.#result.checked(Reflect.apply(this.#original, instance, args));
  }

  #scheduleIn(prototype: object): ScheduleOf {
    const method: unknown = Reflect.get(prototype, this.#at.name);
    const found = isObject(method) ? scheduleOf(method) : undefined;
    if (found?.schedule) return found;
    // Called by a method that overrides it.
    const own: unknown = Reflect.get(this.#at.prototype, this.#at.name);
    return isObject(own) ? scheduleOf(own) : { name: undefined, schedule: undefined };
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'function' || (typeof value === 'object' && value !== null);
}
