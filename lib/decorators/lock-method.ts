import 'reflect-metadata';
import { Observable } from 'rxjs';
import type { OnContention } from '../contract/acquire.options.js';
import { LockConfigurationError } from '../contract/errors.js';
import { connectionOf, LockService } from '../service/lock.service.js';
import { decoratedPlace } from './decorated-place.js';
import type { DecoratedPlace } from './decorated-place.js';
import type { ElectionRole } from './election-role.js';
import { holdDuring } from './hold-during.js';
import type { MethodUnderLock, OpenedLock } from './hold-during.js';
import { LazyGenerator, lazyObservable } from './lazy-generator.js';
import { completed, notALock, registerLockedMethod, serviceFor } from './locked-method.js';
import type { LockedMethod } from './locked-method.js';
import type { ResolvedLockingOptions } from './locking.options.js';
import type { LockDecorator } from './method-check.js';
import { ResultCheck } from './method-result.js';
import { noteLock } from './wrappers.js';

/** The part of the mechanism that differs between the lock decorators. */
export interface Locking {
  readonly options: ResolvedLockingOptions;
  /** Returns the lock of one call. */
  lockOf(service: LockService, instance: unknown, args: unknown[]): OpenedLock['lock'];
  /** The method's role in an election, if only a leader runs it. */
  readonly election?: ElectionRole;
}

/** The way to run calls, which depends on the method's declared return type. */
interface Way extends Pick<MethodUnderLock, 'run'> {
  /** Starts one call and returns its result. */
  readonly start: (method: MethodUnderLock, instance: unknown, args: unknown[]) => unknown;
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
    const wrapper = locked(original, wayOf(original, at), method, locking);
    descriptor.value = wrapper;
    noteLock(method, wrapper, original);
  };
  return decorate as LockDecorator<A, C, B>;
}

function locked<F extends object>(original: F, { run, start }: Way, method: LockedMethod, locking: Locking): F {
  const underLock: MethodUnderLock = {
    title: method.title,
    className: method.prototype.constructor.name,
    methodName: String(method.name),
    options: locking.options,
    open: openerOf(method, locking),
    run,
  };
  return disguised(original, (_, instance, args) => start(underLock, instance, args));
}

/**
 * Returns the function that finds the lock of one call, and the settings of its connection. It throws a
 * LockConfigurationError when the instance has no `LockService`, or a stand-in that makes no lock.
 */
export function openerOf(method: LockedMethod, locking: Locking): MethodUnderLock['open'] {
  const { title } = method;
  return (instance, args) => {
    const service = serviceFor(method, instance);
    try {
      const isReal = service instanceof LockService;
      const lock = locking.lockOf(isReal ? service : completed(service, title), instance, args);
      if (typeof lock?.using !== 'function') throw notALock(title);
      return { lock, defaults: isReal ? connectionOf(service).options : {} };
    } catch (error) {
      throw titled(error, title);
    }
  };
}

/** Returns the error with the title, if it is about a wrong option or key that any method could have. */
function titled(error: unknown, title: string): unknown {
  if (!(error instanceof LockConfigurationError) || error.message.startsWith(title)) return error;
  return new LockConfigurationError(`${title}: ${error.message}`, { key: error.key, cause: error });
}

function wayOf(original: Function, at: DecoratedPlace): Way {
  const run: Way['run'] = (instance, args) => Reflect.apply(original, instance, args);
  if (Object.prototype.toString.call(original) === '[object AsyncGeneratorFunction]') {
    return { run, start: (...call) => new LazyGenerator((gone) => holdDuring(...call, gone)) };
  }
  const declared: unknown = Reflect.getMetadata('design:returntype', at.prototype, at.name);
  if (declared === Observable) return { run, start: (...call) => lazyObservable((gone) => holdDuring(...call, gone)) };
  const result = new ResultCheck(at);
  return { run: (instance, args) => result.checked(Reflect.apply(original, instance, args)), start: holdDuring };
}

/**
 * Returns a function that runs `apply` instead and otherwise looks like the original. It has the same name, length, own
 * properties and decorator metadata.
 */
export function disguised<F extends object>(
  original: F,
  apply: (original: F, instance: unknown, args: unknown[]) => unknown,
): F {
  const proxy = new Proxy(original, { apply });
  for (const key of Reflect.getOwnMetadataKeys(original)) {
    Reflect.defineMetadata(key, Reflect.getOwnMetadata(key, original), proxy);
  }
  return proxy;
}
