import type { Random } from '../../robustness/random.js';

/** The delays of messages: most near the mean, some far longer. In microseconds. */
export interface Delays {
  readonly meanUs: number;
  /** The share of slow messages. */
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
  /** An additional delay of each message. */
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

  /** A delay in whole microseconds. */
  drawDelayUs(): number {
    const { meanUs, slowShare, slowUs } = this.#delays;
    if (slowShare > 0 && this.#random.chance(slowShare))
      return this.extraUs + this.#random.int(meanUs, meanUs + slowUs);
    // The smaller of two draws: short delays are more frequent than long ones.
    const one = this.#random.int(0, 3 * meanUs);
    const other = this.#random.int(0, 3 * meanUs);
    return 1 + this.extraUs + Math.min(one, other);
  }

  /** The position at which bytes are cut into two pieces that arrive separately. */
  drawCut(length: number): number | undefined {
    return length > 1 && this.#random.chance(1 / 16) ? this.#random.int(1, length - 1) : undefined;
  }

  /** Holds back everything, including messages under way. Holding twice takes two releases. */
  hold(): void {
    if (this.#holds++ > 0) return;
    for (const direction of this.#directions) direction.held();
  }

  release(): void {
    if (this.#holds === 0 || --this.#holds > 0) return;
    for (const direction of this.#directions) direction.released();
  }
}
