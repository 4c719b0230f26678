/**
 * The result of a method that runs under a lock. A promise is what callers expect. A stream holds the lease until it
 * ends. Any other result is warned about, because callers get a promise of it.
 */
import { AsyncResource } from 'node:async_hooks';
import { Logger } from '@nestjs/common';
import { catchError, concat, defer, finalize, from, ignoreElements, isObservable, Observable } from 'rxjs';
import { LockConfigurationError } from '../contract/errors.js';
import type { DecoratedPlace } from './decorated-place.js';

const logger = new Logger('DistributedLock');

export type Stream = Observable<unknown> | AsyncIterable<unknown>;

export function isStream(value: unknown): value is Stream {
  return isObservable(value) || (typeof value === 'object' && value !== null && Symbol.asyncIterator in value);
}

/**
 * Warns once about a method whose callers get a promise although the method returned something else. The compiler
 * refuses most of these methods, but not all compilers check types.
 */
export class ResultCheck {
  readonly #at: DecoratedPlace;
  #hasWarned = false;

  constructor(at: DecoratedPlace) {
    this.#at = at;
  }

  /** @returns the result unchanged */
  checked(result: unknown): unknown {
    const then: unknown = typeof result === 'object' && result !== null && 'then' in result ? result.then : undefined;
    if (typeof then !== 'function' && !this.#hasWarned) this.#warn(result);
    return result;
  }

  #warn(result: unknown): void {
    this.#hasWarned = true;
    logger.warn(`${this.#at.title}: ${this.#remedyFor(result)}`);
  }

  #remedyFor(result: unknown): string {
    if (isObservable(result)) return this.#observableRemedy();
    if (isStream(result)) return 'the method returned a stream, and its callers get a Promise of it: write async *';
    return 'the method returned no Promise, and its callers get one: getting a lock takes time. Declare the method async';
  }

  #observableRemedy(): string {
    const isEmitted = Reflect.hasMetadata('design:type', this.#at.prototype, this.#at.name);
    const first = isEmitted ? '' : 'Set "emitDecoratorMetadata": true in tsconfig.json. ';
    const remedy = `${first}Write the return type ": Observable<…>" at the method, and import Observable without "type"`;
    return `the method returned an Observable, and its callers get a Promise of it. ${remedy}`;
  }
}

/**
 * Returns the stream that the caller gets instead of the method's own one. Must be called in the async context that the
 * source is to run in.
 */
export function heldStream(source: Stream, end: StreamEnd): Stream {
  return isObservable(source) ? heldObservable(source, end) : heldIterable(source, end);
}

/** The source, iterated inside the lease's async context. It is done when the lease has been released. */
function heldIterable<T>(source: AsyncIterable<T>, end: StreamEnd): AsyncIterable<T> {
  const lease = new AsyncResource('HeldIterable');
  if ('next' in source) return new HeldIterator(source, end, lease);
  let isConsumed = false;
  const held = {
    [Symbol.asyncIterator]: () => {
      if (isConsumed) throw consumedTwice();
      isConsumed = true;
      return new HeldIterator(source, end, lease);
    },
  };
  end.completeWithout(held);
  return held;
}

type Step<T> = IteratorResult<T, unknown>;

class HeldIterator<T> implements AsyncGenerator<T, unknown, unknown> {
  readonly #source: AsyncIterable<T>;
  readonly #end: StreamEnd;
  readonly #lease: AsyncResource;
  #iterator: AsyncIterator<T, unknown, unknown> | undefined;
  #isOver = false;

  constructor(source: AsyncIterable<T>, end: StreamEnd, lease: AsyncResource) {
    this.#source = source;
    this.#end = end;
    this.#lease = lease;
    end.completeWithout(this);
  }

  next(...value: [] | [unknown]): Promise<Step<T>> {
    return this.#advance((iterator) => iterator.next(...value));
  }

  return(value: unknown): Promise<Step<T>> {
    return this.#advance(async (iterator) => (await iterator.return?.(value)) ?? { done: true, value: await value });
  }

  throw(error: unknown): Promise<Step<T>> {
    return this.#advance((iterator) => iterator.throw?.(error) ?? Promise.reject(error));
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return(undefined);
  }

  async #advance(step: (iterator: AsyncIterator<T, unknown, unknown>) => Promise<Step<T>>): Promise<Step<T>> {
    if (this.#isOver) return { done: true, value: undefined };
    const result = await this.#inLease(step);
    if (!result.done) return result;
    this.#isOver = true;
    this.#end.complete();
    await this.#end.outcome;
    return result;
  }

  async #inLease(step: (iterator: AsyncIterator<T, unknown, unknown>) => Promise<Step<T>>): Promise<Step<T>> {
    try {
      return await this.#lease.runInAsyncScope(() => step(this.#open()));
    } catch (error) {
      this.#isOver = true;
      this.#end.fail(error);
      await this.#end.outcome;
      throw error;
    }
  }

  #open(): AsyncIterator<T, unknown, unknown> {
    return (this.#iterator ??= this.#source[Symbol.asyncIterator]());
  }
}

/** The source, subscribed to inside the lease's async context. It completes when the lease has been released. */
function heldObservable<T>(source: Observable<T>, end: StreamEnd): Observable<T> {
  const lease = new AsyncResource('HeldObservable');
  let isConsumed = false;
  const held = new Observable<T>((subscriber) => {
    if (isConsumed) throw consumedTwice();
    isConsumed = true;
    end.completeOnItsOwn();
    return lease.runInAsyncScope(() => untilReleased(source, end).subscribe(subscriber));
  });
  end.completeWithout(held);
  return held;
}

function consumedTwice(): LockConfigurationError {
  return new LockConfigurationError('a stream that holds a lease can be consumed once: call the method again');
}

function untilReleased<T>(source: Observable<T>, end: StreamEnd): Observable<T> {
  const release = () => from(end.outcome).pipe(ignoreElements());
  const failed = source.pipe(
    catchError((error: unknown) => {
      end.fail(error);
      return release();
    }),
  );
  const completed = defer(() => {
    end.complete();
    return release();
  });
  return concat(failed, completed).pipe(finalize(() => end.complete()));
}

// A stream that is garbage-collected before it was consumed to its end must not hold its key for ever.
const abandoned = new FinalizationRegistry<StreamEnd>((end) => end.complete());

/**
 * The end of a stream that holds a lease. The lease is released when the stream has ended. The consumer is notified of
 * the end when the lease has been released.
 */
export class StreamEnd {
  /** Settles when the stream has ended; rejects with the stream's own error. */
  readonly reached: Promise<void>;
  /** Settles when the lease has been released; rejects with the error for the consumer. */
  readonly outcome: Promise<unknown>;
  #resolve!: () => void;
  #reject!: (reason: unknown) => void;
  #settle!: (outcome: Promise<unknown>) => void;

  constructor() {
    this.reached = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.outcome = new Promise((resolve) => (this.#settle = resolve));
    this.outcome.catch(() => {});
  }

  complete(): void {
    this.#resolve();
  }

  fail(error: unknown): void {
    this.#reject(error);
  }

  /** Sets the promise that decides the consumer's outcome. */
  follow(outcome: Promise<unknown>): void {
    this.#settle(outcome);
  }

  /** Ends the stream when its consumable object has been garbage-collected. The latest object passed here counts. */
  completeWithout(consumable: object): void {
    this.completeOnItsOwn();
    abandoned.register(consumable, this, this);
  }

  /** Marks the stream as consumed: from now on the consumer ends it. */
  completeOnItsOwn(): void {
    abandoned.unregister(this);
  }
}
