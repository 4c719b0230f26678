/** What an alternative costs: the default costs nothing, so a run without deviations is the default order. */
export type Kind = 'order' | 'fault';

/** At this point of a run something else than the default is taken. */
export interface Deviation {
  readonly point: number;
  /** Its place among the alternatives; the default is 0. */
  readonly take: number;
  readonly kind: Kind;
}

/** How much a run may deviate from the default order. */
export interface Bounds {
  /** Deviations of a run without a fault. */
  readonly deviations: number;
  readonly faults: number;
  /** Deviations of a run with faults. */
  readonly deviationsWithFaults: number;
}

/** Tells whether the state was explored before, from there on, with no more deviations behind it. */
export type IsKnown = (state: number, deviations: number) => boolean;

/** The choices of one run: those that are given, and the default from there on. What else there was to choose is kept. */
export class Choices {
  readonly given: readonly Deviation[];
  /** Alternatives that nobody has taken yet, the deepest last. */
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

  /** The run has come to where another one has been: what comes now is known. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** How many points it has had. */
  get points(): number {
    return this.#points;
  }

  /** Whether runs deviate without a limit: then it does not matter what the default order is. */
  get isUnbounded(): boolean {
    return this.#deviationsLeft === Infinity;
  }

  /** Whether a fault may still be chosen. It may not, when asking costs more than knowing. */
  get mayFail(): boolean {
    return this.#next < this.given.length || this.#faults < this.#bounds.faults;
  }

  /**
   * Answers the place of what to do, `undefined` when the run is over.
   * @param kinds of the alternatives; the first one is the default
   * @param state stands for everything that the future hangs on
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

/** `12:1 40:2!`: at point 12 the first alternative, at point 40 the second, which is a fault. */
export function writeChoices(given: readonly Deviation[]): string {
  return given.map(({ point, take, kind }) => `${point}:${take}${kind === 'fault' ? '!' : ''}`).join(' ');
}

/** @throws Error for what `writeChoices` does not write */
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
