import { Observable } from 'rxjs';
import type { Lock } from '../contract/lock.js';
import type { LockService } from '../service/lock.service.js';
import { decoratedPlace } from './decorated-place.js';
import type { DecoratedPlace } from './decorated-place.js';
import { disguised } from './disguised.js';
import type { ElectionRole } from './election-role.js';
import { holdDuring } from './hold-during.js';
import type { LockedCall } from './hold-during.js';
import { LazyGenerator } from './lazy-generator.js';
import { lazyObservable } from './lazy-observable.js';
import { registerLockedMethod, serviceFor } from './locked-method.js';
import type { LockedMethod } from './locked-method.js';
import type { OnContention, ResolvedLockingOptions } from './locking.options.js';
import type { LockDecorator } from './method-check.js';
import { checkLock, complete } from './stand-in.js';

/** What one kind of lock decorator adds to the mechanism that all share. */
export interface Locking {
  readonly options: ResolvedLockingOptions;
  /** The lock of one call. */
  lockOf(service: LockService, instance: unknown, args: unknown[]): Pick<Lock, 'using'>;
  /** What the method is to an election, where it is only run by a leader. */
  readonly election?: ElectionRole;
}

/** Starts one call: the way a method's result is handed out depends on what it declares. */
type Start = (call: LockedCall) => unknown;

/** A method decorator that runs each call of the method under the lock that `configure` names. */
export function lockMethod<A extends unknown[], C extends OnContention, B extends unknown[] = []>(
  decorator: string,
  configure: (at: DecoratedPlace) => Locking,
): LockDecorator<A, C, B> {
  const decorate = <T>(target: object, name: string | symbol, descriptor: TypedPropertyDescriptor<T>): void => {
    const at = decoratedPlace(decorator, target, name, descriptor);
    const locking = configure(at);
    const { title, place } = at;
    const { election, options } = locking;
    const method = registerLockedMethod(at.prototype, { title, place, election }, options.connection);
    const original = descriptor.value;
    if (typeof original === 'function') descriptor.value = locked(original, method, locking, startOf(original, at));
  };
  return decorate as LockDecorator<A, C, B>;
}

function locked<F extends object>(original: F, method: LockedMethod, locking: Locking, start: Start): F {
  return disguised(original, (instance, args, target) =>
    start({
      title: method.title,
      options: locking.options,
      lock: () => lockOfCall(method, locking, instance, args),
      run: () => Reflect.apply(target as unknown as Function, instance, args),
    }),
  );
}

/** @throws LockConfigurationError when the instance has no `LockService`, or a stand-in that makes no lock */
export function lockOfCall(
  method: LockedMethod,
  locking: Locking,
  instance: unknown,
  args: unknown[],
): Pick<Lock, 'using'> {
  const service = complete(serviceFor(method, instance), method.title);
  return checkLock(locking.lockOf(service, instance, args), method.title);
}

function startOf(original: object, at: DecoratedPlace): Start {
  if (Object.prototype.toString.call(original) === '[object AsyncGeneratorFunction]') {
    return (call) => new LazyGenerator(() => holdDuring(call));
  }
  const declared: unknown = Reflect.getMetadata('design:returntype', at.prototype, at.name);
  return declared === Observable
    ? (call) => lazyObservable((gone) => holdDuring(call, gone))
    : (call) => holdDuring(call);
}
