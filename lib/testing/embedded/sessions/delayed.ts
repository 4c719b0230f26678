import type { Timers } from './server-clock.js';

interface Due {
  readonly at: number;
  readonly action: () => void;
}

/** Actions that run with a delay. Each runs after all that were pushed before it, even if their delays are longer. */
export class Delayed {
  readonly #time: Timers;
  readonly #due: Due[] = [];
  #cancel: (() => void) | undefined;
  #isHeld = false;

  constructor(time: Timers) {
    this.#time = time;
  }

  get isEmpty(): boolean {
    return this.#due.length === 0;
  }

  /** Runs the action at once when there is nothing to wait for. */
  push(action: () => void, ms: number): void {
    if (ms <= 0 && !this.#isHeld && this.isEmpty) return action();
    this.#due.push({ at: this.#time.now() + ms, action });
    this.#awaitFirst();
  }

  /** Holds all actions back until `release()`, which runs those that are due. */
  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
    this.#work();
  }

  /** Discards all actions. */
  clear(): void {
    this.#due.length = 0;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #awaitFirst(): void {
    const [first] = this.#due;
    // One timer for all actions: two timers for the same moment may fire in the wrong order.
    if (!first || this.#cancel || this.#isHeld) return;
    this.#cancel = this.#time.after(Math.max(first.at - this.#time.now(), 0), () => {
      this.#cancel = undefined;
      this.#work();
    });
  }

  #work(): void {
    while (!this.#isHeld && this.#due[0] && this.#due[0].at <= this.#time.now()) this.#due.shift()?.action();
    this.#awaitFirst();
  }
}
