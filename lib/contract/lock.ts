import type { Lease } from './lease.js';

export interface AcquireOptions {
  /** How long to wait in line, in milliseconds; 0 asks once. Default: the module's `waitMs`. */
  readonly waitMs?: number | undefined;
  /** Gives up waiting; the wait rejects with `signal.reason`, untouched. Has no effect once the lease is granted. */
  readonly signal?: AbortSignal | undefined;
  /** `false`: entering a key that this call already holds is a `LockReentrancyError`. Default `true`. */
  readonly reentrant?: boolean | undefined;
  /** A name for logs and for whoever looks at the line of contenders. */
  readonly label?: string | undefined;
}

export interface UsingOptions extends AcquireOptions {
  /** What `using` does when the lease was lost while the work ran: reject (default), or return the work's result. */
  readonly onLost?: 'throw' | 'ignore' | undefined;
}

/** Every primitive has the same three verbs. A `Lock` holds no state: one object serves any number of callers. */
export interface Lock {
  /** @throws LockTimeoutError when `waitMs` ran out, LockUnavailableError when the backend could not be asked. */
  acquire(options?: AcquireOptions): Promise<Lease>;
  /** Like `acquire`, with `null` for "not this time"; `waitMs` is 0 unless given. */
  tryAcquire(options?: AcquireOptions): Promise<Lease | null>;
  /**
   * Runs `work` under the lease and releases it whatever happens. An error of `work` is rethrown as it is.
   * @throws LockLostError after `work` has ended, when the lease was lost meanwhile (see `onLost`).
   */
  using<T>(work: (lease: Lease) => T | Promise<T>, options?: UsingOptions): Promise<T>;
}

export interface ReadWriteLock {
  /** Held by any number of readers at once, never together with the writer. */
  readonly read: Lock;
  /** Held by one. A waiting writer is not overtaken by readers that come later. */
  readonly write: Lock;
}
