/**
 * The bound that an alternative counts against. The default is free, so a run without deviations is in the default
 * order.
 */
export type Kind = 'order' | 'fault';

/** A point of a run at which an alternative other than the default is taken. */
export interface Deviation {
  readonly point: number;
  /** The index of the alternative; the default is 0. */
  readonly take: number;
  readonly kind: Kind;
}

/** The limits for deviations of a run from the default order. */
export interface Bounds {
  /** Limit for a run without a fault. */
  readonly deviations: number;
  readonly faults: number;
  /** Limit for a run with faults. */
  readonly deviationsWithFaults: number;
}

/** Whether everything from the state on was explored before, after no more deviations than these. */
export type IsKnown = (state: number, deviations: number) => boolean;

/** The choices of one run: the given ones, and then the default. The alternatives not taken are kept. */
export class Choices {
  readonly given: readonly Deviation[];
  /** The alternatives not taken yet, the deepest last. */
  readonly open: Deviation[] = [];
  readonly #bounds: Bounds;
  readonly #isKnown: IsKnown;
  readonly #deviations: number;
  readonly #faults: number;
  #next = 0;
  #points = 0;
  #isOver = false;

  constructor(given: readonly Deviation[], bounds: Bounds, isKnown: IsKnown = () => false) {
    this.given = given;
    this.#bounds = bounds;
    this.#isKnown = isKnown;
    this.#faults = given.filter(({ kind }) => kind === 'fault').length;
    this.#deviations = given.length - this.#faults;
  }

  /** Whether the run has reached a state that another run has explored. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The number of points so far. */
  get points(): number {
    return this.#points;
  }

  /** Whether deviations are unlimited. The default order is then irrelevant. */
  get isUnbounded(): boolean {
    return this.#deviationsLeft === Infinity;
  }

  /** Whether a fault may still be chosen. It skips the computation of faults that could not be chosen. */
  get mayFail(): boolean {
    return this.#next < this.given.length || this.#faults < this.#bounds.faults;
  }

  /**
   * Returns the index of the alternative to take, `undefined` when the run is over.
   * @param kinds of the alternatives; the first one is the default
   * @param state identifies everything that the future depends on
   */
  choose(kinds: readonly Kind[], state: () => number): number | undefined {
    const point = this.#points++;
    const due = this.given[this.#next];
    if (due) return this.#follow(due, point, kinds.length);
    if (this.#isKnown(state(), this.isUnbounded ? 0 : this.#deviations)) {
      this.#isOver = true;
      return undefined;
    }
    kinds.forEach((kind, take) => {
      if (take > 0 && this.#isWithin(kind)) this.open.push({ point, take, kind });
    });
    return 0;
  }

  #follow({ point: at, take }: Deviation, point: number, count: number): number {
    if (at !== point) return 0;
    if (take >= count)
      throw new Error(`point ${point} has ${count} alternatives: there is none with the number ${take}`);
    this.#next++;
    return take;
  }

  #isWithin(kind: Kind): boolean {
    const { faults, deviationsWithFaults } = this.#bounds;
    if (kind === 'fault') return this.#faults < faults && this.#deviations <= deviationsWithFaults;
    return this.#deviationsLeft > 0;
  }

  get #deviationsLeft(): number {
    const { deviations, deviationsWithFaults } = this.#bounds;
    return (this.#faults > 0 ? deviationsWithFaults : deviations) - this.#deviations;
  }
}

/** Formats choices. `12:1 40:2!` takes alternative 1 at point 12, and alternative 2, which is a fault, at point 40. */
export function writeChoices(given: readonly Deviation[]): string {
  return given.map(({ point, take, kind }) => `${point}:${take}${kind === 'fault' ? '!' : ''}`).join(' ');
}

/** @throws Error for text that `writeChoices` does not produce */
export function readChoices(text: string): Deviation[] {
  return text
    .split(/[\s,]+/)
    .filter((part) => part !== '')
    .map((part) => {
      const [, point, take, fault] = /^(\d+):(\d+)(!?)$/.exec(part) ?? [];
      if (point === undefined) throw new Error(`--choices must read like "12:1 40:2!", got "${part}"`);
      return { point: Number(point), take: Number(take), kind: fault ? 'fault' : 'order' };
    });
}
