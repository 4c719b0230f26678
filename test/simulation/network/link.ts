import type { Random } from '../../robustness/random.js';

/** How long messages take: most about the mean, some far longer. In microseconds. */
export interface Delays {
  readonly meanUs: number;
  /** How often one is slow. */
  readonly slowShare: number;
  readonly slowUs: number;
}

interface Holdable {
  held(): void;
  released(): void;
}

/** The way from one process to one server, or back. It serves all their connections. */
export class Link {
  readonly #delays: Delays;
  /** So much more each message takes. */
  extraUs = 0;
  readonly #random: Random;
  readonly #directions = new Set<Holdable>();
  #holds = 0;

  constructor(delays: Delays, random: Random) {
    this.#delays = delays;
    this.#random = random;
  }

  get isHeld(): boolean {
    return this.#holds > 0;
  }

  add(direction: Holdable): void {
    this.#directions.add(direction);
  }

  remove(direction: Holdable): void {
    this.#directions.delete(direction);
  }

  /** In whole microseconds. */
  drawDelayUs(): number {
    const { meanUs, slowShare, slowUs } = this.#delays;
    if (slowShare > 0 && this.#random.chance(slowShare))
      return this.extraUs + this.#random.int(meanUs, meanUs + slowUs);
    // Twice the smaller of two: near is more frequent than far.
    const one = this.#random.int(0, 3 * meanUs);
    const other = this.#random.int(0, 3 * meanUs);
    return 1 + this.extraUs + Math.min(one, other);
  }

  /** Where bytes are cut into two pieces, which arrive apart from each other. */
  drawCut(length: number): number | undefined {
    return length > 1 && this.#random.chance(1 / 16) ? this.#random.int(1, length - 1) : undefined;
  }

  /** Holds everything back, what is under way included. Holding twice takes two releases. */
  hold(): void {
    if (this.#holds++ > 0) return;
    for (const direction of this.#directions) direction.held();
  }

  release(): void {
    if (this.#holds === 0 || --this.#holds > 0) return;
    for (const direction of this.#directions) direction.released();
  }
}
