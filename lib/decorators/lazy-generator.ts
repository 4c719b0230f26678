import { isObservable, Observable, of } from 'rxjs';

type Step = IteratorResult<unknown, unknown>;
type Iterator = AsyncIterator<unknown, unknown, unknown>;

/**
 * The result of an `async *` method. It is as lazy as the method was: the call acquires its lock at the first `next()`.
 */
export class LazyGenerator implements AsyncGenerator<unknown, unknown, unknown> {
  readonly #open: () => Promise<unknown>;
  #opening: Promise<Iterator | undefined> | undefined;
  #isOver = false;

  constructor(open: () => Promise<unknown>) {
    this.#open = open;
  }

  async next(...value: [] | [unknown]): Promise<Step> {
    if (this.#isOver) return done();
    this.#opening ??= this.#start();
    const iterator = await this.#opening;
    return iterator ? iterator.next(...value) : done();
  }

  async return(value: unknown): Promise<Step> {
    const iterator = await this.#started();
    return iterator?.return ? iterator.return(value) : done(await value);
  }

  async throw(error: unknown): Promise<Step> {
    const iterator = await this.#started();
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
   * Starts the call. Returns `undefined` when it was skipped, or when its contention handler returned nothing to
   * iterate.
   */
  async #start(): Promise<Iterator | undefined> {
    try {
      const opened = await this.#open();
      if (isAsyncIterable(opened)) return opened[Symbol.asyncIterator]();
    } catch (error) {
      this.#isOver = true;
      throw error;
    }
    this.#isOver = true;
    return undefined;
  }

  /** The iterator, if it has been started. A generator that is ended before it began never begins. */
  async #started(): Promise<Iterator | undefined> {
    this.#isOver ||= !this.#opening;
    return this.#opening?.catch(() => undefined);
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
