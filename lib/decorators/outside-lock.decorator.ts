import { check } from '../contract/check.js';
import { decoratedPlace, needParentheses } from './decorated-place.js';
import { noteWrapper } from './wrappers.js';

/**
 * Applies a decorator that is meant to be above a lock, such as one for traces or metrics. At start-up a warning is
 * logged for a lock below a decorator that wraps the method. A decorator that is applied through this one causes no
 * warning.
 *
 * Work that the decorator does after the method happens when the lease has been released. Do not put a transaction in
 * here: its commit would come too late.
 *
 * @example
 * ```ts
 * @OutsideLock(Span('orders.place'))
 * @DistributedLock('orders')
 * async place() {}
 * ```
 * @typeParam D the type of the decorator
 * @throws LockConfigurationError when the class is loaded, for anything but a method decorator, and where there is no
 *   method
 */
export function OutsideLock<D extends (target: never, name: never, descriptor: never) => unknown>(decorator: D): D {
  needParentheses('@OutsideLock(Decorator())', arguments);
  check(typeof decorator === 'function', '@OutsideLock: the decorator', decorator, 'a method decorator');
  const decorate = decorator as unknown as MethodDecorator;
  const outside = <T>(target: object, name: string | symbol, descriptor: TypedPropertyDescriptor<T>) => {
    decoratedPlace('@OutsideLock', target, name, descriptor);
    const original = descriptor.value;
    const replaced: unknown = decorate(target, name, descriptor) ?? descriptor;
    checkDescriptor(replaced);
    const wrapper = replaced.value;
    if (typeof wrapper === 'function' && typeof original === 'function') noteWrapper(wrapper, original);
    return replaced;
  };
  return outside as unknown as D;
}

/**
 * Refuses a function. A factory without its parentheses returns one, and the class would have the method without its
 * lock.
 */
function checkDescriptor(replaced: unknown): asserts replaced is PropertyDescriptor {
  const expected =
    'one that returns a property descriptor or nothing; a factory needs its parentheses: @OutsideLock(Decorator())';
  check(typeof replaced === 'object' && replaced !== null, '@OutsideLock: the decorator', replaced, expected);
}
