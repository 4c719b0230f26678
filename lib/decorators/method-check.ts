/** The compile-time checks of a decorated method. Each refusal is a readable sentence in the compiler's error. */
import type { Observable } from 'rxjs';
import type { OnContention } from '../contract/acquire.options.js';

/**
 * A method decorator for methods that are not static and whose parameters fit `A` and `B`. `A` is the parameters of the
 * key function. `B` is those of a second function of the arguments, if the decorator takes one.
 */
export interface LockDecorator<A extends unknown[], C extends OnContention, B extends unknown[] = []> {
  <T>(
    target: NotStatic,
    name: string | symbol,
    descriptor: TypedPropertyDescriptor<T> & Unless<Complaint<T, A, C> | RouteComplaint<T, B>>,
  ): void;
  <O extends object, K extends string | symbol>(
    target: O & SecondChoice,
    name: K,
  ): CannotLock<OnInstance<O, OrElse<Complaint<MemberOf<O, K>, A, C> | RouteComplaint<MemberOf<O, K>, B>>>>;
}

/**
 * The result of the second signature of a decorator. That signature exists for `applyDecorators`, and for a method that
 * the first one does not fit. No decorator may return this type, so the compiler refuses the method and shows the
 * sentence.
 */
export interface CannotLock<Sentence> {
  readonly why: Sentence;
}

/** The sentence, or a general one where there is none, and for private methods, which types do not show. */
type OrElse<Sentence> = [Sentence] extends [never]
  ? 'a lock goes on an async method of an instance that takes what the key function takes'
  : Sentence;

declare const SECOND_CHOICE: unique symbol;

/**
 * Marks the second signature: a compiler prefers a signature without optional properties, and only then the first one.
 */
export interface SecondChoice {
  readonly [SECOND_CHOICE]?: never;
}

/** The type of a member; `never` for a private one. */
type MemberOf<O, K> = K extends keyof O ? O[K] : never;

/** The target of an instance method's decorator: a class has a `prototype`. */
export type NotStatic = object & { readonly prototype?: never };

/** The sentence for a static method, or else the given one. */
type OnInstance<O, Sentence> = O extends { readonly prototype: unknown }
  ? 'a lock goes on an instance method: a static method has no instance to be given its locks'
  : Sentence;

// A complaint is a sentence, and `never` is no complaint: a union of checks must not lose a sentence.
type Unless<Sentence> = [Sentence] extends [never] ? unknown : Sentence;

type Complaint<T, A extends unknown[], C extends OnContention> = T extends (...args: infer P) => infer R
  ? KeyComplaint<P, A> | ReturnComplaint<R, C>
  : 'a lock goes on a method, not on an accessor or a property';

type KeyComplaint<P extends unknown[], A extends unknown[]> = FitComplaint<P, A, 'key'>;

type FitComplaint<P extends unknown[], A extends unknown[], Of extends string> = ((...args: A) => void) extends (
  ...args: P
) => void
  ? never
  : ((...args: A) => void) extends (...args: Given<P>) => void
    ? `a parameter of the method may be undefined: the ${Of} function must take undefined there as well`
    : `the ${Of} function must take what the method takes, and no more`;

/** The parameters of calls that leave none out. */
type Given<P extends unknown[]> = { [I in keyof P]-?: Exclude<P[I], undefined> };

type RouteComplaint<T, B extends unknown[]> = T extends (...args: infer P) => unknown
  ? FitComplaint<P, B, 'routeBy'>
  : never;

type ReturnComplaint<R, C extends OnContention> = 0 extends 1 & R
  ? never
  : R extends PromiseLike<infer V>
    ? Stranger<Promise<V>, R> | StreamComplaint<V> | SkipComplaint<V, C> | HandlerComplaint<V, C>
    : R extends Observable<infer V>
      ? Stranger<Observable<V>, R> | SkipComplaint<V, C> | HandlerComplaint<V | Observable<V>, C>
      : R extends AsyncIterable<infer V>
        ? Stranger<AsyncGenerator<V>, R> | HandlerComplaint<AsyncIterable<V> | undefined, C>
        : 'a locked method must return a Promise, an Observable or an AsyncIterable: getting a lock takes time';

// A promise of a stream resolves to a stream that holds the lease and has no members beyond those of a stream.
type StreamComplaint<V> =
  V extends Observable<infer X>
    ? Stranger<Observable<X>, V>
    : V extends AsyncIterable<infer X>
      ? Stranger<AsyncGenerator<X>, V>
      : never;

type Stranger<Ours, R> = [Ours] extends [R]
  ? never
  : 'declare a plain Promise, Observable or AsyncIterable: that is what the caller gets, not the object you return';

type SkipComplaint<V, C extends OnContention> = 'skip' extends C ? UndefinedComplaint<V> : never;

// The caller of a method that yields nothing ignores the result, so any result of the handler fits.
type HandlerComplaint<Result, C> = C extends (...args: never) => infer X
  ? [Yielded<X>] extends [[void] extends [Result] ? unknown : Result]
    ? never
    : 'what onContention returns must be what the method yields: a value of its type, or a promise of one'
  : never;

/** The value of a handler; one that returns nothing yields `undefined`. */
type Yielded<X> = [Awaited<X>] extends [never] ? never : [Awaited<X>] extends [void] ? undefined : Awaited<X>;

type UndefinedComplaint<V> = undefined extends V
  ? never
  : [void] extends [V]
    ? never
    : "a call that is skipped yields undefined: the method's return type must say so";

/**
 * The compile-time checks of a method with `@CronLock`. Each refusal is a readable sentence in the compiler's error.
 */

/** A method decorator for methods that a scheduler calls: they are not static, and their result is not used. */
export interface CronLockDecorator {
  <T>(target: NotStatic, name: string | symbol, descriptor: TypedPropertyDescriptor<T> & Unless<JobComplaint<T>>): void;
  <O extends object, K extends string | symbol>(
    target: O & SecondChoice,
    name: K,
  ): CannotLock<OnInstance<O, OrElse<JobComplaint<MemberOf<O, K>>>>>;
}

type JobComplaint<T> = T extends (...args: never) => infer R
  ? JobReturnComplaint<R>
  : 'a lock goes on a method, not on an accessor or a property';

type JobReturnComplaint<R> = 0 extends 1 & R
  ? never
  : R extends PromiseLike<infer V>
    ? Promise<V> extends R
      ? UndefinedComplaint<V>
      : 'declare a plain Promise: that is what the caller gets, not the object you return'
    : 'a job with @CronLock must be async: getting a lock takes time, and the lock is held until its promise settles';
