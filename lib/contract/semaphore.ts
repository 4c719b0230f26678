import type { Lease } from './lease.js';
import type { Lock } from './lock.js';
import type { SemaphoreAcquireOptions, SemaphoreUsingOptions } from './semaphore.options.js';

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
