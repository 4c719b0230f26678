import type { ContentionHandler, OnContention } from '../contract/acquire.options.js';
import { check } from '../contract/check.js';
import type { Lock } from '../contract/lock.js';
import type { SemaphoreLock, SemaphoreOptions } from '../contract/semaphore.options.js';
import { checkDemand, resolveSemaphoreOptions, SEMAPHORE_FIELDS } from '../contract/semaphore.options.js';
import { needParentheses } from './decorated-place.js';
import { readerOfKey } from './lock-key.js';
import type { LockKey } from './lock-key.js';
import { lockMethod } from './lock-method.js';
import { LOCKING_FIELDS, resolveLockingOptions } from './locking.options.js';
import type { LockingOptions } from './locking.options.js';
import type { LockDecorator } from './method-check.js';

const NAME = '@Semaphore';
const FIELDS = [...LOCKING_FIELDS, ...SEMAPHORE_FIELDS, 'permitsPerCall'];

export interface SemaphoreDecoratorOptions extends LockingOptions, SemaphoreOptions {
  /** The number of permits that each call takes. Default 1. */
  readonly permitsPerCall?: number | undefined;
}

/**
 * Runs the method for as many callers at a time in the whole cluster as there are permits, first come first served.
 *
 * Calls are not merged: a method that calls another with `@Semaphore` of the same key takes further permits. The call
 * is a `LockReentrancyError` where it could only wait for permits that the caller itself holds, and always with
 * `reentrant: false`.
 *
 * In everything else like `DistributedLock`.
 * @throws LockTimeoutError, LockLostError, LockUnavailableError, LockReentrancyError, LockConfigurationError
 */
export function Semaphore<A extends unknown[], C extends OnContention = 'throw', R = never>(
  key: LockKey<A>,
  options: SemaphoreDecoratorOptions & { readonly onContention?: C | ContentionHandler<R> | undefined },
): LockDecorator<A, C | ContentionHandler<R>> {
  needParentheses(`${NAME}('key', { permits: 4 })`, arguments);
  return lockMethod(NAME, (at) => {
    const keyOf = readerOfKey(at.title, key);
    const locking = resolveLockingOptions(at, options, FIELDS);
    const { permits, sharedCount, permitsPerCall = 1 } = options;
    const prefix = `${at.title}: `;
    const size = resolveSemaphoreOptions({ permits, ...(sharedCount !== undefined && { sharedCount }) }, prefix);
    checkDemand(permitsPerCall, `${prefix}permitsPerCall`);
    check(
      permitsPerCall <= permits,
      `${prefix}permitsPerCall`,
      permitsPerCall,
      `at most the ${permits} that there are`,
    );
    const lockOptions = { ...size, ...locking.holding };
    return {
      options: locking,
      lockOf: (service, instance, args) =>
        taking(service.semaphore(keyOf(instance, args), lockOptions), permitsPerCall),
    };
  });
}

/** The semaphore with the number of permits that one call takes. */
function taking(lock: SemaphoreLock, permits: number): Lock {
  return {
    acquire: (options) => lock.acquire({ ...options, permits }),
    tryAcquire: (options) => lock.tryAcquire({ ...options, permits }),
    using: (work, options) => lock.using(work, { ...options, permits }),
  };
}
