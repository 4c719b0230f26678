import { isObservable, Observable, of } from 'rxjs';

type Step = IteratorResult<unknown, unknown>;
type Iterator = AsyncIterator<unknown, unknown, unknown>;

/**
 * The result of an `async *` method. It is as lazy as the method was: the call acquires its lock at the first `next()`.
 * A consumer that ends it before the lock is acquired stops waiting, and the method does not run.
 */
export class LazyGenerator implements AsyncGenerator<unknown, unknown, unknown> {
  readonly #open: (gone: AbortSignal) => Promise<unknown>;
  readonly #gone = new AbortController();
  #opening: Promise<Iterator | undefined> | undefined;
  #iterator: Iterator | undefined;
  #isOver = false;

  constructor(open: (gone: AbortSignal) => Promise<unknown>) {
    this.#open = open;
  }

  async next(...value: [] | [unknown]): Promise<Step> {
    if (this.#isOver) return done();
    this.#opening ??= this.#start();
    const iterator = await this.#opening;
    return iterator ? iterator.next(...value) : done();
  }

  async return(value: unknown): Promise<Step> {
    const iterator = this.#openedOrGone();
    return iterator?.return ? iterator.return(value) : done(await value);
  }

  async throw(error: unknown): Promise<Step> {
    const iterator = this.#openedOrGone();
    if (iterator?.throw) return iterator.throw(error);
    throw error;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return(undefined);
  }

  /**
   * Starts the call. Returns `undefined` when it was skipped, when its contention handler returned nothing to iterate,
   * or when the consumer has gone meanwhile.
   */
  async #start(): Promise<Iterator | undefined> {
    const { signal } = this.#gone;
    try {
      const opened = await this.#open(signal);
      if (!signal.aborted && isAsyncIterable(opened)) return (this.#iterator = opened[Symbol.asyncIterator]());
    } catch (error) {
      this.#isOver = true;
      if (!signal.aborted) throw error;
    }
    this.#isOver = true;
    return undefined;
  }

  /** The iterator, if the call has opened it. A generator that is ended before never begins. */
  #openedOrGone(): Iterator | undefined {
    if (this.#iterator) return this.#iterator;
    this.#isOver = true;
    this.#gone.abort();
    return undefined;
  }
}

function done(value?: unknown): Step {
  return { done: true, value };
}

function isAsyncIterable(value: unknown): value is { [Symbol.asyncIterator](): Iterator } {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

/**
 * Returns a cold Observable for a method that is declared to return one. Each subscription is a separate call that
 * acquires its lock when it subscribes. Unsubscribing stops waiting. A call that is skipped emits `undefined`.
 */
export function lazyObservable(open: (gone: AbortSignal) => Promise<unknown>): Observable<unknown> {
  return new Observable((subscriber) => {
    const gone = new AbortController();
    subscriber.add(() => gone.abort());
    open(gone.signal).then(
      (value) => {
        if (!subscriber.closed) (isObservable(value) ? value : of(value)).subscribe(subscriber);
      },
      (error: unknown) => subscriber.error(error),
    );
  });
}
