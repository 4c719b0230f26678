import 'reflect-metadata';
import { Observable } from 'rxjs';
import type { OnContention } from '../contract/acquire.options.js';
import { LockConfigurationError } from '../contract/errors.js';
import type { Lock } from '../contract/lock.js';
import { connectionOf, LockService } from '../service/lock.service.js';
import { decoratedPlace } from './decorated-place.js';
import type { DecoratedPlace } from './decorated-place.js';
import type { ElectionRole } from './election-role.js';
import { holdDuring } from './hold-during.js';
import type { CallDefaults, LockedCall } from './hold-during.js';
import { LazyGenerator, lazyObservable } from './lazy-generator.js';
import { checkLock, complete, registerLockedMethod, serviceFor } from './locked-method.js';
import type { LockedMethod } from './locked-method.js';
import type { ResolvedLockingOptions } from './locking.options.js';
import type { LockDecorator } from './method-check.js';
import { ResultCheck } from './result-check.js';
import { noteLock } from './wrappers.js';

/** The part of the mechanism that differs between the lock decorators. */
export interface Locking {
  readonly options: ResolvedLockingOptions;
  /** Returns the lock of one call. */
  lockOf(service: LockService, instance: unknown, args: unknown[]): Pick<Lock, 'using'>;
  /** The method's role in an election, if only a leader runs it. */
  readonly election?: ElectionRole;
}

/** Runs the method without its lock. */
type Run = (instance: unknown, args: unknown[]) => unknown;

/** The way to run calls, which depends on the method's declared return type. */
interface Way {
  /** Starts one call and returns its result. */
  readonly start: (call: LockedCall) => unknown;
  readonly run: Run;
}

/** The data of a decorated method. */
interface Decorated extends Way {
  readonly method: LockedMethod;
  readonly locking: Locking;
}

/** Returns a method decorator that runs each call of the method under the lock that `configure` names. */
export function lockMethod<A extends unknown[], C extends OnContention, B extends unknown[] = []>(
  decorator: string,
  configure: (at: DecoratedPlace) => Locking,
): LockDecorator<A, C, B> {
  const decorate = <T>(target: object, name: string | symbol, descriptor: TypedPropertyDescriptor<T>): void => {
    const at = decoratedPlace(decorator, target, name, descriptor);
    const locking = configure(at);
    const { election, options } = locking;
    const method = registerLockedMethod({ ...at, election }, options.connection);
    const original = descriptor.value;
    if (typeof original !== 'function') return;
    const wrapper = locked(original, { method, locking, ...wayOf(original, at) });
    descriptor.value = wrapper;
    noteLock(method, wrapper, original);
  };
  return decorate as LockDecorator<A, C, B>;
}

function locked<F extends object>(original: F, { method, locking, run, start }: Decorated): F {
  const named = { className: method.prototype.constructor.name, methodName: String(method.name) };
  return disguised(original, (instance, args) =>
    start({
      title: method.title,
      options: locking.options,
      lock: () => lockOfCall(method, locking, instance, args),
      defaults: () => defaultsOf(serviceFor(method, instance)),
      method: { ...named, args },
      run: () => run(instance, args),
    }),
  );
}

/**
 * Returns the lock of one call.
 * @throws LockConfigurationError when the instance has no `LockService`, or a stand-in that makes no lock
 */
export function lockOfCall(
  method: LockedMethod,
  locking: Locking,
  instance: unknown,
  args: unknown[],
): Pick<Lock, 'using'> {
  const { title } = method;
  const service = complete(serviceFor(method, instance), title);
  return checkLock(
    named(title, () => locking.lockOf(service, instance, args)),
    title,
  );
}

/** Returns the result of `find`. Adds the title to an error that lacks it: a bad key could come from any method. */
function named<T>(title: string, find: () => T): T {
  try {
    return find();
  } catch (error) {
    if (!(error instanceof LockConfigurationError) || error.message.startsWith(title)) throw error;
    throw new LockConfigurationError(`${title}: ${error.message}`, { key: error.key, cause: error });
  }
}

/** Returns the service's settings. A stand-in that a test has put in the place of the service has none. */
export function defaultsOf(service: LockService): CallDefaults {
  return service instanceof LockService ? connectionOf(service).options : {};
}

function wayOf(original: Function, at: DecoratedPlace): Way {
  const run: Run = (instance, args) => Reflect.apply(original, instance, args);
  if (Object.prototype.toString.call(original) === '[object AsyncGeneratorFunction]') {
    return { run, start: (call) => new LazyGenerator(() => holdDuring(call)) };
  }
  const declared: unknown = Reflect.getMetadata('design:returntype', at.prototype, at.name);
  if (declared === Observable) return { run, start: (call) => lazyObservable((gone) => holdDuring(call, gone)) };
  const result = new ResultCheck(at);
  return { run: (instance, args) => result.checked(run(instance, args)), start: (call) => holdDuring(call) };
}

/**
 * Returns a function that runs `call` instead and otherwise looks like the original. It has the same name, length, own
 * properties and decorator metadata.
 */
export function disguised<F extends object>(
  original: F,
  call: (instance: unknown, args: unknown[], original: F) => unknown,
): F {
  const proxy = new Proxy(original, {
    apply: (target, instance: unknown, args: unknown[]) => call(instance, args, target),
  });
  for (const key of Reflect.getOwnMetadataKeys(original)) {
    Reflect.defineMetadata(key, Reflect.getOwnMetadata(key, original), proxy);
  }
  return proxy;
}
