import { now } from '../async/clock.js';

interface Hint {
  /** The segment had fewer units than this. */
  readonly below: number;
  readonly notedAt: number;
}

/**
 * Hints about segments that had too few units when this process last looked. They are no proof: others put units back.
 */
export class DryHints {
  readonly #keptMs: number;
  readonly #hints = new Map<number, Hint>();

  /** @param keptMs how long a hint is valid, in milliseconds */
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

  /** Whether the segment may have this many units. */
  mayHave(segment: number, units: number): boolean {
    const hint = this.#hints.get(segment);
    if (!hint || units < hint.below) return true;
    if (now() - hint.notedAt <= this.#keptMs) return false;
    this.#hints.delete(segment);
    return true;
  }
}
