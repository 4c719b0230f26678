import { now } from '../async/clock.js';

interface Hint {
  /** There were fewer units than this. */
  readonly below: number;
  readonly notedAt: number;
}

/** Which segments had too little when somebody of this process looked last. Not a proof: others put units back. */
export class DryHints {
  readonly #keptMs: number;
  readonly #hints = new Map<number, Hint>();

  /** @param keptMs how long a hint is believed */
  constructor(keptMs: number) {
    this.#keptMs = keptMs;
  }

  note(segment: number, below: number): void {
    this.#hints.set(segment, { below, notedAt: now() });
  }

  forget(segment: number): void {
    this.#hints.delete(segment);
  }

  clear(): void {
    this.#hints.clear();
  }

  /** Whether the segment may have so many units. */
  mayHave(segment: number, units: number): boolean {
    const hint = this.#hints.get(segment);
    if (!hint || units < hint.below) return true;
    if (now() - hint.notedAt <= this.#keptMs) return false;
    this.#hints.delete(segment);
    return true;
  }
}
