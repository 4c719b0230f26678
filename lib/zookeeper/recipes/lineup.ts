import { compareStandings, excludes, standingOf, standingsIn } from './standing.js';
import type { LineKind, Standing } from './standing.js';

/**
 * Who stood in a line when it was listed, in order, less those who were seen to leave since. Nobody can come in before
 * one who is in the list, so it stays good for everyone in it: it is their turn when all before them have left.
 */
export class Lineup {
  readonly #inOrder: readonly Standing[];
  readonly #places = new Map<string, number>();
  readonly #left = new Set<number>();
  /** All before this place have left. */
  #first = 0;

  constructor(names: readonly string[], line: LineKind = 'locks') {
    const standings = standingsIn(line, names);
    this.#inOrder = standings.length > 1 ? standings.sort(compareStandings) : standings;
    this.#inOrder.forEach(({ name }, place) => this.#places.set(name, place));
  }

  /** Those who stood in line. */
  get inOrder(): readonly Standing[] {
    return this.#inOrder;
  }

  has(name: string): boolean {
    const place = this.#places.get(name);
    return place !== undefined && !this.#left.has(place);
  }

  left(name: string): void {
    const place = this.#places.get(name);
    if (place === undefined) return;
    this.#left.add(place);
    while (this.#left.has(this.#first)) this.#first++;
  }

  /** Up to `most` of those before `name` that exclude it and have not left, the nearest first. */
  ahead(name: string, most: number): Standing[] {
    const place = this.#places.get(name);
    const me = place === undefined ? undefined : this.#inOrder[place];
    if (place === undefined || !me) return [];
    const found: Standing[] = [];
    for (let at = this.#lastNotBehind(place, me); at >= this.#first && found.length < most; at--) {
      const other = this.#inOrder[at];
      if (other && other !== me && !this.#left.has(at) && excludes(other, me)) found.push(other);
    }
    return found;
  }

  /**
   * Whom `name` is to watch: the nearest before it that excludes it, and the next one (look-ahead) where each waits for
   * the one before. Readers go in any order, and many at once: of them only the nearest says anything.
   */
  predecessors(name: string): Standing[] {
    const ahead = this.ahead(name, 2);
    const isChain = ahead.every(({ kind }) => kind !== 'read') && standingOf(name)?.kind !== 'read';
    return isChain ? ahead : ahead.slice(0, 1);
  }

  /** Whether anybody behind `name` has to wait for it. */
  isAwaited(name: string): boolean {
    const me = this.#inOrder[this.#places.get(name) ?? -1];
    return me !== undefined && this.#inOrder.some((other) => compareStandings(me, other) < 0 && excludes(me, other));
  }

  // Equal numbers say nothing about the order: each takes the other to be before it, and neither goes first.
  #lastNotBehind(place: number, me: Standing): number {
    let last = place;
    for (let next = this.#inOrder[last + 1]; next && compareStandings(next, me) === 0; next = this.#inOrder[last + 1]) {
      last++;
    }
    return last;
  }
}
