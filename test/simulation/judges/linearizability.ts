/** An operation of a history: the call with its answer, and the interval in which it took effect. */
export interface Operation<O> {
  readonly what: O;
  readonly from: number;
  /** `Infinity` if its outcome is unknown. The operation may take effect at any time after `from`, or never. */
  readonly until: number;
}

/** The behaviour of an object when operations come one after another. */
export interface Specification<S, O> {
  readonly initial: S;
  /** Returns the state after the operation, or `undefined` if it cannot have had its answer in this state. */
  apply(state: S, what: O): S | undefined;
  /** States with the same text are equal. */
  textOf(state: S): string;
  /** Whether the operation never changes any state. */
  isRead(what: O): boolean;
}

export type TickStatus<O> =
  | { readonly is: 'linearizable' }
  /** The first operation whose return no order explains. */
  | { readonly is: 'impossible'; readonly at: Operation<O> }
  /** There were more configurations than the limit. */
  | { readonly is: 'undecided' };

/** One possible course of the history so far. */
interface Configuration<S> {
  readonly state: S;
  /** The pending operations that have taken effect. */
  readonly effective: ReadonlySet<number>;
}

const MOST_CONFIGURATIONS = 200_000;

/**
 * Whether there is an order of the operations, each within its interval, in which every answer is right (Wing and Gong,
 * 1993; just in time, Lowe, 2017). Goes through calls and returns in their order, and keeps every possible course. An
 * operation takes effect no earlier than some return needs it. Courses with the same result are merged.
 */
export function linearize<S, O>(
  operations: readonly Operation<O>[],
  specification: Specification<S, O>,
  patience = MOST_CONFIGURATIONS,
): TickStatus<O> {
  const search = new Search(operations, specification, patience);
  for (const { place, isCall } of eventsOf(operations)) {
    if (isCall) search.called(place);
    else if (!search.returned(place)) return { is: 'impossible', at: operations[place]! };
    if (search.isTired) return { is: 'undecided' };
  }
  return { is: 'linearizable' };
}

/** Calls precede returns of the same moment, because the two may have overlapped. */
function eventsOf<O>(operations: readonly Operation<O>[]): { place: number; isCall: boolean; at: number }[] {
  const events = operations.flatMap(({ from, until }, place) => [
    { place, isCall: true, at: from },
    ...(until === Infinity ? [] : [{ place, isCall: false, at: until }]),
  ]);
  return events.sort((a, b) => a.at - b.at || Number(b.isCall) - Number(a.isCall));
}

class Search<S, O> {
  readonly #operations: readonly Operation<O>[];
  readonly #specification: Specification<S, O>;
  readonly #pending = new Set<number>();
  #ways: Configuration<S>[];
  #patience: number;

  constructor(operations: readonly Operation<O>[], specification: Specification<S, O>, patience: number) {
    this.#operations = operations;
    this.#specification = specification;
    this.#patience = patience;
    this.#ways = [{ state: specification.initial, effective: new Set() }];
  }

  get isTired(): boolean {
    return this.#patience < 0;
  }

  called(place: number): void {
    const { what, until } = this.#operations[place]!;
    // A read of unknown answer explains nothing.
    if (until === Infinity && this.#specification.isRead(what)) return;
    this.#pending.add(place);
  }

  /** Keeps the courses in which the operation has taken effect by now. Returns `false` if there are none. */
  returned(place: number): boolean {
    const kept = new Map<string, Configuration<S>>();
    const seen = new Set<string>();
    const open = [...this.#ways];
    for (let way = open.pop(); way && !this.isTired; way = open.pop()) {
      const text = this.#textOf(way);
      if (seen.has(text)) continue;
      seen.add(text);
      this.#patience -= 1;
      if (way.effective.has(place)) this.#keep(kept, way, place);
      else open.push(...this.#steps(way));
    }
    this.#pending.delete(place);
    this.#ways = [...kept.values()];
    return this.#ways.length > 0 || this.isTired;
  }

  #keep(kept: Map<string, Configuration<S>>, { state, effective }: Configuration<S>, place: number): void {
    const way = { state, effective: new Set([...effective].filter((one) => one !== place)) };
    kept.set(this.#textOf(way), way);
  }

  /** The courses in which one more operation takes effect. */
  #steps(way: Configuration<S>): Configuration<S>[] {
    const next = [...this.#pending].filter((place) => !way.effective.has(place));
    const steps = next.flatMap((place) => this.#step(way, place) ?? []);
    // A read that fits can take effect now: no later operation depends on it.
    const read = steps.find(({ place }) => this.#specification.isRead(this.#operations[place]!.what));
    return (read ? [read] : steps).map((step) => step.way);
  }

  #step(way: Configuration<S>, place: number): { place: number; way: Configuration<S> } | undefined {
    const { what, until } = this.#operations[place]!;
    const state = this.#specification.apply(way.state, what);
    if (state === undefined) return undefined;
    const { textOf } = this.#specification;
    // An operation without a known return that changes nothing can be left out.
    if (until === Infinity && textOf(state) === textOf(way.state)) return undefined;
    return { place, way: { state, effective: new Set([...way.effective, place]) } };
  }

  #textOf({ state, effective }: Configuration<S>): string {
    return `${[...effective].sort((a, b) => a - b).join(',')}|${this.#specification.textOf(state)}`;
  }
}
