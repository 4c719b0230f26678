import { AsyncResource } from 'node:async_hooks';
import { consumedTwice } from './held-observable.js';
import type { StreamEnd } from './stream-end.js';

/** The source, iterated inside the lease's async context; it is done when the lease has been given back. */
export function heldIterable<T>(source: AsyncIterable<T>, end: StreamEnd): AsyncIterable<T> {
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
