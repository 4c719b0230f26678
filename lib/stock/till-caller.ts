import { onAbort } from '../async/abort.js';
import { deferred } from '../async/deferred.js';
import type { TillEntry } from './till-entry.js';

/** Somebody at a till, until their entry has an outcome. */
export class TillCaller {
  readonly entry: TillEntry<unknown>;
  readonly #signal: AbortSignal;
  readonly #outcome = deferred<unknown>();
  #isOver = false;
  #isSent = false;

  constructor(entry: TillEntry<unknown>, signal: AbortSignal) {
    this.entry = entry;
    this.#signal = signal;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Rejects with the signal's reason when it aborts, unless the entry is being written then. */
  async outcome(): Promise<unknown> {
    const dispose = onAbort(this.#signal, () => this.#giveUp());
    return this.#outcome.promise.finally(dispose);
  }

  /** Nobody knows what becomes of the entry until it is answered, and nobody can give up. */
  sent(): void {
    this.#isSent = true;
  }

  /** It was not written. */
  refused(): void {
    this.#isSent = false;
    if (this.#signal.aborted) this.#giveUp();
  }

  settle(outcome: unknown): void {
    this.#isOver = true;
    this.#outcome.resolve(outcome);
  }

  fail(error: unknown): void {
    this.#isOver = true;
    this.#outcome.reject(error);
  }

  #giveUp(): void {
    if (!this.#isSent && !this.#isOver) this.fail(this.#signal.reason);
  }
}
