import type { Lease } from './lease.js';

/** The options of one acquisition. */
export interface AcquireOptions {
  /** Time to wait in the queue, in milliseconds; 0 tries once. Default: the module's `waitMs`. */
  readonly waitMs?: number | undefined;
  /** Aborts the wait, which rejects with `signal.reason`, untouched. Has no effect once the lease is granted. */
  readonly signal?: AbortSignal | undefined;
  /** `false`: acquiring a key that this call already holds throws a `LockReentrancyError`. Default `true`. */
  readonly reentrant?: boolean | undefined;
  /** A name for logs and for lists of contenders. */
  readonly label?: string | undefined;
}

/** The options of `using`. */
export interface UsingOptions extends AcquireOptions {
  /** Reaction of `using` when the lease was lost while the work ran: reject (default), or return the work's result. */
  readonly onLost?: 'throw' | 'ignore' | undefined;
}

/** The three methods that every primitive has. A `Lock` holds no state: one object serves any number of callers. */
export interface Lock {
  /** @throws LockTimeoutError when `waitMs` ran out, LockUnavailableError when the backend could not be asked. */
  acquire(options?: AcquireOptions): Promise<Lease>;
  /** Like `acquire`, but returns `null` when the lock cannot be had in time. `waitMs` is 0 unless given. */
  tryAcquire(options?: AcquireOptions): Promise<Lease | null>;
  /**
   * Runs `work` under the lease and releases the lease however `work` ends. An error of `work` is rethrown as it is.
   * @throws LockLostError after `work` has ended, when the lease was lost meanwhile (see `onLost`).
   */
  using<T>(work: (lease: Lease) => T | Promise<T>, options?: UsingOptions): Promise<T>;
}

/** The two locks of one key: any number of readers, or one writer. */
export interface ReadWriteLock {
  /** The read lock. Any number of readers hold it at once, never together with the writer. */
  readonly read: Lock;
  /** The write lock. It has one holder. Readers that arrive later do not overtake a waiting writer. */
  readonly write: Lock;
}
