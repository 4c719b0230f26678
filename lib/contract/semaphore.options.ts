import { HOLDING_FIELDS, pickHolding } from './acquire.options.js';
import type { HoldingOptions } from './acquire.options.js';
import { check, checkFields } from './check.js';
import { checkKey } from './key.js';
import type { Lease } from './lease.js';
import type { SemaphoreSize } from './lock-request.js';
import type { AcquireOptions, Lock, UsingOptions } from './lock.js';

export interface SemaphoreOptions extends HoldingOptions {
  /**
   * How many permits there are, 1 to 10 000, as long as nobody has called `setPermits`; from then on the number that it
   * recorded rules. All who use the semaphore should say the same.
   */
  readonly permits: number;
  /**
   * Where the number is recorded, written as a key is: an absolute path is the one of a Curator `SharedCount`. It is
   * made, with `permits`, when it is not there. Default: beside the semaphore, and only once `setPermits` was called.
   */
  readonly sharedCount?: string | undefined;
}

export interface SemaphoreAcquireOptions extends AcquireOptions {
  /** How many permits to take: all of them or none. Default 1. */
  readonly permits?: number | undefined;
}

export interface SemaphoreUsingOptions extends SemaphoreAcquireOptions, UsingOptions {}

/** Every permit is a znode, and all of them are listed by whoever waits. */
const MOST_PERMITS = 10_000;
/** All permits of one acquisition are made in one transaction. */
const MOST_PERMITS_AT_ONCE = 1_000;

export const SEMAPHORE_FIELDS = ['permits', 'sharedCount'] as const;

/**
 * Checks.
 * @param prefix what messages begin with, to say where the options stand
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

/** @param atLeast 0 where nobody is to be let in @throws LockConfigurationError for what is no number of permits */
export function checkPermits(permits: number, atLeast: 0 | 1 = 1, field = 'permits'): void {
  checkWhole(field, permits, atLeast, MOST_PERMITS);
}

/** @throws LockConfigurationError for what nobody can take at once */
export function checkDemand(permits: number, field = 'permits'): void {
  checkWhole(field, permits, 1, MOST_PERMITS_AT_ONCE);
}

function checkWhole(field: string, value: number, atLeast: number, atMost: number): void {
  const isInRange = Number.isInteger(value) && value >= atLeast && value <= atMost;
  check(isInRange, field, value, `a whole number from ${atLeast} to ${atMost}`);
}

/**
 * So many permits at a time, first come first served: one who wants many is not overtaken by those who want few.
 *
 * Not re-entrant: a nested acquisition takes further permits. Where that could only wait for itself, because the running
 * code holds too many by `using`, it is a `LockReentrancyError` at once; and always with `reentrant: false`.
 *
 * The `fencingToken` grows with every grant, and tells grants apart; but there are several holders, and the older token
 * is as good as the newer one. A store that is to refuse holders who were paused needs a token a slot: `segmented`.
 */
export interface SemaphoreLock extends Lock {
  /** All of `permits`, or none. @throws as every lock's; asking for more than there are waits until there are as many */
  acquire(options?: SemaphoreAcquireOptions): Promise<Lease>;
  tryAcquire(options?: SemaphoreAcquireOptions): Promise<Lease | null>;
  using<T>(work: (lease: Lease) => T | Promise<T>, options?: SemaphoreUsingOptions): Promise<T>;
  /** How many permits there are now. @throws LockUnavailableError */
  permits(): Promise<number>;
  /**
   * Changes how many there are, for all who use the semaphore, from now on and for as long as the record stands. With more,
   * those who wait are let in at once; with fewer, holders finish, and nobody comes in before enough have. 0: nobody does.
   * @throws LockConfigurationError, LockUnavailableError
   */
  setPermits(permits: number): Promise<void>;
}

/** How many permits semaphores have, for all who use them. */
export interface PermitCounts {
  /** The number now. @throws LockUnavailableError, LockConfigurationError when what is recorded is no number of permits */
  read(key: string, of: SemaphoreSize): Promise<number>;
  /** Records another number, for all who use the semaphore, from now on. @throws LockUnavailableError */
  set(key: string, of: SemaphoreSize, permits: number): Promise<void>;
}
