import { check, checkFields } from './check.js';
import { HOLDING_FIELDS, pickHolding } from './holding.options.js';
import type { HoldingOptions } from './holding.options.js';
import { checkKey } from './key.js';
import type { AcquireOptions, UsingOptions } from './lock.js';

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
export const MOST_PERMITS = 10_000;
/** All permits of one acquisition are made in one transaction. */
export const MOST_PERMITS_AT_ONCE = 1_000;

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
