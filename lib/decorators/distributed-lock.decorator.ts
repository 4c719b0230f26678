import type { ContentionHandler, OnContention } from '../contract/acquire.options.js';
import { LockConfigurationError } from '../contract/errors.js';
import { SHARING_FIELDS } from '../service/lock-service.options.js';
import { checkAtomicKeys } from '../service/multi-locks.js';
import { needParentheses } from './decorated-place.js';
import type { DecoratedPlace } from './decorated-place.js';
import { readerOfKeys } from './lock-key.js';
import type { LockKeys } from './lock-key.js';
import { lockMethod } from './lock-method.js';
import type { Locking } from './lock-method.js';
import { LOCKING_FIELDS, resolveLockingOptions } from './locking.options.js';
import type { DistributedLockOptions, ResolvedLockingOptions } from './locking.options.js';
import type { LockDecorator } from './method-check.js';

const NAME = '@DistributedLock';

/**
 * Runs the method for one caller at a time in the whole cluster, under a lease on `key`. Several keys are locked all or
 * none, in one fixed order. Inside the method, `currentLease()` returns the lease. Its `signal` aborts when the lease
 * is lost. Its `fencingToken` lets a store refuse a holder that was paused.
 *
 * - Goes above or below other decorators (`@Cron`, `@Get`, `@MessagePattern`, `@OnEvent`). It goes above
 *   `@Transactional()` and the like, so that the lease outlives the commit.
 * - A method that returns an `Observable` or is `async *` holds the lease until its stream has ended. It acquires the
 *   lease on subscription or on iteration.
 * - For an `Observable` the return type must be written out, and the compiler must emit decorator metadata, as Nest
 *   requires anyway. If a method yields a stream and this is not known, it returns a promise of a stream. That stream
 *   can be consumed once, and must be.
 * - `this.method()` is locked like any call, and so is `super.method()`. A subclass that overrides the method without
 *   calling `super` is not locked.
 * - After a session loss the lease's `signal` aborts at once. The call rejects when the method has ended (see
 *   `onLost`).
 *
 * @param key the key, several keys, or a function of the method's arguments; annotate its parameters
 * @throws LockTimeoutError (HTTP 423) when another holder had the key for all of `waitMs` (see `onContention`),
 *   LockLostError (503), LockUnavailableError (503), LockReentrancyError (500), LockConfigurationError (500): the
 *   method did not run, except with LockLostError. The method's own error is never replaced.
 */
export function DistributedLock<A extends unknown[], C extends OnContention = 'throw', R = never>(
  key: LockKeys<A>,
  options: DistributedLockOptions & { readonly onContention?: C | ContentionHandler<R> | undefined } = {},
): LockDecorator<A, C | ContentionHandler<R>> {
  needParentheses(`${NAME}('key')`, arguments);
  return lockMethod(NAME, (at) => mutexLocking(at, key, options));
}

/**
 * Returns the options of a mutex decorator, and how each call makes its lock.
 * @throws LockConfigurationError for wrong options and fixed keys, which names the place
 */
export function mutexLocking<A extends unknown[]>(
  at: Pick<DecoratedPlace, 'title' | 'place'>,
  key: LockKeys<A>,
  options: DistributedLockOptions,
): Locking {
  const keyOf = readerOfKeys(at.title, key);
  const resolved = resolveLockingOptions(at, options, [...LOCKING_FIELDS, ...SHARING_FIELDS, 'line', 'atomic']);
  const { line, atomic, sharing, holding } = resolved;
  // The keys that a function returns are known with each call only.
  if (typeof key !== 'function') checkCount(at.title, key, resolved);
  const ofOneKey = Object.freeze({ line, ...sharing, ...holding });
  const ofSeveral = Object.freeze({ ...sharing, ...holding, ...(atomic && { atomic }) });
  return {
    options: resolved,
    lockOf: (service, instance, args) => {
      const keys = keyOf(instance, args);
      if (typeof keys === 'string' && !atomic) return service.mutex(keys, ofOneKey);
      checkCount(at.title, keys, resolved);
      return service.multi([keys].flat(), ofSeveral);
    },
  };
}

/** @throws LockConfigurationError for more keys than the options allow */
function checkCount(
  title: string,
  keys: string | readonly string[],
  { line, atomic }: Pick<ResolvedLockingOptions, 'line' | 'atomic'>,
): void {
  if (typeof keys === 'string') return;
  if (line === 'none') throw new LockConfigurationError(`${title}: line 'none' goes with one key, not with several`);
  if (atomic) checkAtomicKeys(keys, `${title}: `);
}
