import { monotonicNow, setTimer } from '../sessions/real-time.js';

interface Due {
  readonly at: number;
  readonly action: () => void;
}

/** Actions that happen late, each after all that were pushed before it, also when those are later still. */
export class Delayed {
  delayMs = 0;
  readonly #due: Due[] = [];

  /** At once when there is nothing to wait for. */
  push(action: () => void): void {
    if (this.delayMs <= 0 && this.#due.length === 0) return action();
    this.#due.push({ at: monotonicNow() + this.delayMs, action });
    if (this.#due.length === 1) this.#awaitFirst();
  }

  #awaitFirst(): void {
    // One timer for all of them: those of two timers for the same moment may come the wrong way round.
    if (this.#due[0]) setTimer(() => this.#work(), this.#due[0].at - monotonicNow()).unref();
  }

  #work(): void {
    while (this.#due[0] && this.#due[0].at <= monotonicNow()) this.#due.shift()?.action();
    this.#awaitFirst();
  }
}
