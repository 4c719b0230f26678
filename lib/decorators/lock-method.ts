import { Observable } from 'rxjs';
import type { Lock } from '../contract/lock.js';
import { LockService } from '../service/lock.service.js';
import { decoratedPlace } from './decorated-place.js';
import type { DecoratedPlace } from './decorated-place.js';
import { disguised } from './disguised.js';
import type { ElectionRole } from './election-role.js';
import { holdDuring } from './hold-during.js';
import type { CallDefaults, LockedCall } from './hold-during.js';
import { LazyGenerator } from './lazy-generator.js';
import { lazyObservable } from './lazy-observable.js';
import { registerLockedMethod, serviceFor } from './locked-method.js';
import type { LockedMethod } from './locked-method.js';
import type { ResolvedLockingOptions } from './locking.options.js';
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
export function lockMethod(decorator: string, configure: (at: DecoratedPlace) => Locking) {
  return <T>(target: object, name: string | symbol, descriptor: TypedPropertyDescriptor<T>): void => {
    const at = decoratedPlace(decorator, target, name, descriptor);
    const locking = configure(at);
    const { title, place } = at;
    const { election, options } = locking;
    const method = registerLockedMethod(at.prototype, { title, place, election }, options.connection);
    const original = descriptor.value;
    if (typeof original === 'function') descriptor.value = locked(original, method, locking, startOf(original, at), at);
  };
}

function locked<F extends object>(
  original: F,
  method: LockedMethod,
  locking: Locking,
  start: Start,
  { prototype, name }: DecoratedPlace,
): F {
  const named = { className: prototype.constructor.name, methodName: String(name) };
  return disguised(original, (instance, args, target) =>
    start({
      title: method.title,
      options: locking.options,
      lock: () => {
        const service = complete(serviceFor(method, instance), method.title);
        return checkLock(locking.lockOf(service, instance, args), method.title);
      },
      defaults: () => defaultsOf(serviceFor(method, instance)),
      method: { ...named, args },
      run: () => Reflect.apply(target as unknown as Function, instance, args),
    }),
  );
}

/** A stand-in that a test has put in the place of the service says nothing. */
function defaultsOf(service: LockService): CallDefaults {
  return service instanceof LockService ? service.callDefaults : {};
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
