import { now } from '../async/clock.js';

/** An answer that is asked for at most once in `forMs`, however many callers want it. All of them share it. */
export class Shared<T> {
  readonly #ask: () => Promise<T>;
  readonly #forMs: number;
  #answer: Promise<T> | undefined;
  #askedAt = -Infinity;
  #isPending = false;

  constructor(forMs: number, ask: () => Promise<T>) {
    this.#forMs = forMs;
    this.#ask = ask;
  }

  /** Returns the answer, which is at most `forMs` old when it is there. Rejects as the question does. */
  get(): Promise<T> {
    const isFresh = this.#isPending || now() - this.#askedAt < this.#forMs;
    if (this.#answer && isFresh) return this.#answer;
    this.#askedAt = now();
    this.#isPending = true;
    this.#answer = this.#ask().finally(() => (this.#isPending = false));
    return this.#answer;
  }
}
