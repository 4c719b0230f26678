import type { ContentionHandler, OnContention } from '../contract/acquire.options.js';
import type { Lock, ReadWriteLock } from '../contract/lock.js';
import { SHARING_FIELDS } from '../service/lock-service.options.js';
import type { SharingOptions } from '../service/lock-service.options.js';
import { needParentheses } from './decorated-place.js';
import { readerOfKey } from './lock-key.js';
import type { LockKey } from './lock-key.js';
import { lockMethod } from './lock-method.js';
import { LOCKING_FIELDS, resolveLockingOptions } from './locking.options.js';
import type { LockingOptions } from './locking.options.js';
import type { LockDecorator } from './method-check.js';

export interface ReadLockOptions extends LockingOptions, SharingOptions {}
export interface WriteLockOptions extends LockingOptions, SharingOptions {}

/**
 * Runs the method together with any number of readers of `key`, never together with its writer. A reader that calls a
 * method with `@WriteLock` or `@DistributedLock` of the same key gets a `LockReentrancyError`: it would wait for
 * itself. In everything else like `DistributedLock`.
 * @throws LockTimeoutError, LockLostError, LockUnavailableError, LockReentrancyError, LockConfigurationError
 */
export function ReadLock<A extends unknown[], C extends OnContention = 'throw', R = never>(
  key: LockKey<A>,
  options: ReadLockOptions & { readonly onContention?: C | ContentionHandler<R> | undefined } = {},
): LockDecorator<A, C | ContentionHandler<R>> {
  needParentheses("@ReadLock('key')", arguments);
  return lockSide('@ReadLock', (lock) => lock.read, key, options);
}

/**
 * Runs the method alone: `key` has no reader and no other writer meanwhile. May call methods with `@ReadLock` of the
 * same key. In everything else like `DistributedLock`.
 * @throws LockTimeoutError, LockLostError, LockUnavailableError, LockReentrancyError, LockConfigurationError
 */
export function WriteLock<A extends unknown[], C extends OnContention = 'throw', R = never>(
  key: LockKey<A>,
  options: WriteLockOptions & { readonly onContention?: C | ContentionHandler<R> | undefined } = {},
): LockDecorator<A, C | ContentionHandler<R>> {
  needParentheses("@WriteLock('key')", arguments);
  return lockSide('@WriteLock', (lock) => lock.write, key, options);
}

function lockSide<A extends unknown[], C extends OnContention>(
  decorator: string,
  sideOf: (lock: ReadWriteLock) => Lock,
  key: LockKey<A>,
  options: ReadLockOptions,
): LockDecorator<A, C> {
  return lockMethod(decorator, (at) => {
    const keyOf = readerOfKey(at.title, key);
    const resolved = resolveLockingOptions(at, options, [...LOCKING_FIELDS, ...SHARING_FIELDS]);
    const lockOptions = Object.freeze({ ...resolved.sharing, ...resolved.holding });
    return {
      options: resolved,
      lockOf: (service, instance, args) => sideOf(service.readWriteLock(keyOf(instance, args), lockOptions)),
    };
  });
}
