// About a millisecond of the cheapest steps.
const MOST_STEPS = 256;

/** Resolves in the next turn of the event loop. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/**
 * A limit for the work in one turn of the event loop. Work that continues from promise to promise never ends the turn.
 * As long as it lasts, no reply is read, no timer runs and no heartbeat is sent.
 */
export class LoopBudget {
  #steps = 0;
  #isCounting = false;

  /** Whether further work should wait for the next turn. */
  get isLong(): boolean {
    return this.#steps >= MOST_STEPS;
  }

  step(): void {
    this.#steps++;
    if (this.#isCounting) return;
    this.#isCounting = true;
    setImmediate(() => {
      this.#isCounting = false;
      this.#steps = 0;
    });
  }
}
