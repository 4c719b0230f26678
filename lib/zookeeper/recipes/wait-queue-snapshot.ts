import { compareContenderNames, excludes, contenderNameOf, contenderNamesIn } from './contender-name.js';
import type { QueueKind, ContenderName } from './contender-name.js';

/**
 * The contenders of a wait queue when it was listed, in order, less those that were seen to be deleted since. No
 * contender can be created before one in the list, so the list remains valid for all in it. It is a contender's turn
 * when all before it are deleted.
 */
export class WaitQueueSnapshot {
  readonly #inOrder: readonly ContenderName[];
  /** Whether the numbers alone are an order: each occurs once, and none is beyond the end of the counter. */
  readonly #isStrict: boolean;
  /** 1 at the index of each contender that is deleted. */
  readonly #left: Uint8Array;
  /** The index before which all contenders are deleted. */
  #first = 0;

  constructor(names: readonly string[], line: QueueKind = 'locks') {
    const contenders = contenderNamesIn(line, names);
    this.#inOrder = contenders.length > 1 ? contenders.sort(compareContenderNames) : contenders;
    this.#isStrict = isStrictOrder(this.#inOrder);
    this.#left = new Uint8Array(contenders.length);
  }

  /** The contenders that were listed. */
  get inOrder(): readonly ContenderName[] {
    return this.#inOrder;
  }

  has(name: string): boolean {
    const place = this.#placeOf(name);
    return place !== undefined && !this.#hasLeft(place);
  }

  left(name: string): void {
    const place = this.#placeOf(name);
    if (place === undefined) return;
    this.#left[place] = 1;
    while (this.#hasLeft(this.#first)) this.#first++;
  }

  /** Up to `most` contenders before `name` that exclude it and are not deleted, nearest first. */
  ahead(name: string, most: number): ContenderName[] {
    const place = this.#placeOf(name);
    const me = place === undefined ? undefined : this.#inOrder[place];
    if (place === undefined || !me) return [];
    const found: ContenderName[] = [];
    for (let at = this.#lastNotBehind(place, me); at >= this.#first && found.length < most; at--) {
      const other = this.#inOrder[at];
      if (other && other !== me && !this.#hasLeft(at) && excludes(other, me)) found.push(other);
    }
    return found;
  }

  /**
   * The contenders that `name` is to watch, nearest first. The first is the nearest before it that excludes it. Where
   * each waits for the one before, the next one follows (look-ahead). Readers are deleted in any order, and many at
   * once: of them only the nearest is of use.
   */
  predecessors(name: string): ContenderName[] {
    const ahead = this.ahead(name, 2);
    const isChain = ahead.every(({ kind }) => kind !== 'read') && contenderNameOf(name)?.kind !== 'read';
    return isChain ? ahead : ahead.slice(0, 1);
  }

  /** Whether any contender behind `name` has to wait for it. */
  isAwaited(name: string): boolean {
    const me = this.#inOrder[this.#placeOf(name) ?? -1];
    return (
      me !== undefined && this.#inOrder.some((other) => compareContenderNames(me, other) < 0 && excludes(me, other))
    );
  }

  #hasLeft(place: number): boolean {
    return this.#left[place] === 1;
  }

  #placeOf(name: string): number | undefined {
    const me = contenderNameOf(name);
    const likely = me ? this.#firstNotBefore(me) : -1;
    if (this.#inOrder[likely]?.name === name) return likely;
    const place = this.#isStrict ? -1 : this.#inOrder.findIndex((one) => one.name === name);
    return place < 0 ? undefined : place;
  }

  /** Binary search: names are many, and a table of them would be built again with every list. */
  #firstNotBefore(me: ContenderName): number {
    let [from, to] = [0, this.#inOrder.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      const other = this.#inOrder[middle];
      if (other && compareContenderNames(other, me) < 0) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  // Equal numbers say nothing about the order: each takes the other to be before it, and neither is first.
  #lastNotBehind(place: number, me: ContenderName): number {
    let last = place;
    for (
      let next = this.#inOrder[last + 1];
      next && compareContenderNames(next, me) === 0;
      next = this.#inOrder[last + 1]
    ) {
      last++;
    }
    return last;
  }
}

function isStrictOrder(inOrder: readonly ContenderName[]): boolean {
  const [first, last] = [inOrder.at(0), inOrder.at(-1)];
  if (first && last && last.number - first.number >= 2 ** 31) return false;
  return inOrder.every((one, place) => {
    const next = inOrder[place + 1];
    return next === undefined || (compareContenderNames(one, next) < 0 && one.number <= next.number);
  });
}
