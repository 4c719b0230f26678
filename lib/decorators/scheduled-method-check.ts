/** What the compiler checks about a method with `@CronLock`. Each refusal is a sentence that can be read in the error. */
import type {
  CannotLock,
  MemberOf,
  NotStatic,
  OnInstance,
  OrElse,
  SecondChoice,
  UndefinedComplaint,
  Unless,
} from './method-check.js';

/** A method decorator for methods that a scheduler calls: not static, and with nothing for it to do with a result. */
export interface CronLockDecorator {
  <T>(target: NotStatic, name: string | symbol, descriptor: TypedPropertyDescriptor<T> & Unless<Complaint<T>>): void;
  <O extends object, K extends string | symbol>(
    target: O & SecondChoice,
    name: K,
  ): CannotLock<OnInstance<O, OrElse<Complaint<MemberOf<O, K>>>>>;
}

type Complaint<T> = T extends (...args: never) => infer R
  ? ReturnComplaint<R>
  : 'a lock goes on a method, not on an accessor or a property';

type ReturnComplaint<R> = 0 extends 1 & R
  ? never
  : R extends PromiseLike<infer V>
    ? Promise<V> extends R
      ? UndefinedComplaint<V>
      : 'declare a plain Promise: that is what the caller gets, not the object you return'
    : 'a job with @CronLock must be async: getting a lock takes time, and the lock is held until its promise settles';
