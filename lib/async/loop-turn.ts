// A millisecond or so of the cheapest steps there are.
const MOST_STEPS = 256;

/** Resolves in the next turn of the event loop. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/**
 * How much is done in one turn of the event loop. Work that goes from promise to promise never ends the turn, and as
 * long as it lasts no answer is read, no timer runs and no heartbeat is sent.
 */
export class LoopBudget {
  #steps = 0;
  #isCounting = false;

  /** Whether what comes next should wait for the next turn. */
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
