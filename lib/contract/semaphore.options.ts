import { HOLDING_FIELDS, pickHolding } from './acquire.options.js';
import type { HoldingOptions } from './acquire.options.js';
import { check, checkFields } from './check.js';
import { checkKey } from './key.js';
import type { Lease } from './lease.js';
import type { SemaphoreSize } from './lock-request.js';
import type { AcquireOptions, Lock, UsingOptions } from './lock.js';

/** The options of a semaphore. */
export interface SemaphoreOptions extends HoldingOptions {
  /**
   * The number of permits, 1 to 10 000, until `setPermits` is called. From then on the recorded number applies. All
   * users of the semaphore should pass the same number.
   */
  readonly permits: number;
  /**
   * The place of the recorded number, written like a key. An absolute path is the path of a Curator `SharedCount`. If
   * it does not exist, it is created with `permits`. Default: beside the semaphore, and only once `setPermits` was
   * called.
   */
  readonly sharedCount?: string | undefined;
}

/** The options of one acquisition of permits. */
export interface SemaphoreAcquireOptions extends AcquireOptions {
  /** The number of permits to acquire: all of them or none. Default 1. */
  readonly permits?: number | undefined;
}

/** The options of `using` of a semaphore. */
export interface SemaphoreUsingOptions extends SemaphoreAcquireOptions, UsingOptions {}

/** The maximum number of permits. Every permit is a znode, and every waiting contender lists all of them. */
const MOST_PERMITS = 10_000;
/** The maximum number of permits of one acquisition. All of them are created in one transaction. */
const MOST_PERMITS_AT_ONCE = 1_000;

export const SEMAPHORE_FIELDS = ['permits', 'sharedCount'] as const;

/**
 * Checks the options.
 * @param prefix start of the messages, to say where the options are
 * @throws LockConfigurationError that names the wrong field
 */
export function resolveSemaphoreOptions(options: SemaphoreOptions, prefix = ''): SemaphoreOptions {
  checkFields(`${prefix}semaphore options`, options, [...SEMAPHORE_FIELDS, ...HOLDING_FIELDS]);
  const { permits, sharedCount } = options;
  checkWhole(`${prefix}permits`, permits, 1, MOST_PERMITS);
  const isKey = sharedCount === undefined || (typeof sharedCount === 'string' && sharedCount !== '');
  check(isKey, `${prefix}sharedCount`, sharedCount, 'a key');
  if (sharedCount !== undefined) checkKey(sharedCount, `${prefix}sharedCount`);
  return { permits, ...(sharedCount === undefined ? {} : { sharedCount }), ...pickHolding(options) };
}

/**
 * @param atLeast 0 where no permits are allowed
 * @throws LockConfigurationError if it is not a valid number of permits
 */
export function checkPermits(permits: number, atLeast: 0 | 1 = 1, field = 'permits'): void {
  checkWhole(field, permits, atLeast, MOST_PERMITS);
}

/** @throws LockConfigurationError if one acquisition cannot take that many permits */
export function checkDemand(permits: number, field = 'permits'): void {
  checkWhole(field, permits, 1, MOST_PERMITS_AT_ONCE);
}

function checkWhole(field: string, value: number, atLeast: number, atMost: number): void {
  const isInRange = Number.isInteger(value) && value >= atLeast && value <= atMost;
  check(isInRange, field, value, `a whole number from ${atLeast} to ${atMost}`);
}

/**
 * A limited number of permits, first come first served: a caller that wants many permits is not overtaken by callers
 * that want few.
 *
 * Not re-entrant: a nested acquisition acquires further permits. If the running code holds too many by `using`, so that
 * it could only wait for itself, it throws a `LockReentrancyError` at once. With `reentrant: false` a nested
 * acquisition always does.
 *
 * The `fencingToken` grows with every grant, and distinguishes grants. But there are several holders, and an older
 * token is as valid as a newer one. A store that must reject paused holders needs a token for each slot: `segmented`.
 */
export interface SemaphoreLock extends Lock {
  /**
   * Acquires all of `permits`, or none.
   * @throws as every lock; a request for more permits than exist waits until there are enough
   */
  acquire(options?: SemaphoreAcquireOptions): Promise<Lease>;
  tryAcquire(options?: SemaphoreAcquireOptions): Promise<Lease | null>;
  using<T>(work: (lease: Lease) => T | Promise<T>, options?: SemaphoreUsingOptions): Promise<T>;
  /** Returns the present number of permits. @throws LockUnavailableError */
  permits(): Promise<number>;
  /**
   * Changes the number of permits for all users of the semaphore, for as long as the record exists.
   * - With more permits, waiting callers acquire at once.
   * - With fewer, holders finish, and no caller acquires before enough have finished.
   * - With 0, no caller acquires.
   * @throws LockConfigurationError, LockUnavailableError
   */
  setPermits(permits: number): Promise<void>;
}

/** The numbers of permits of semaphores, for all their users. */
export interface PermitCounts {
  /**
   * Returns the present number.
   * @throws LockUnavailableError, LockConfigurationError when the record is not a number of permits
   */
  read(key: string, of: SemaphoreSize): Promise<number>;
  /** Records another number, for all users of the semaphore, from now on. @throws LockUnavailableError */
  set(key: string, of: SemaphoreSize, permits: number): Promise<void>;
}
