import { compareContenderNames, excludes, contenderNamesIn } from './contender-znode.js';
import type { QueueKind, ContenderName } from './contender-znode.js';

/**
 * The contenders of a wait queue when it was listed, in order, less those that were seen to be deleted since. No
 * contender can be created before one in the list, so the list remains valid for all in it. It is a contender's turn
 * when all before it are deleted.
 */
export class WaitQueueSnapshot {
  /** The contenders that were listed. */
  readonly inOrder: readonly ContenderName[];
  /** Whether the numbers alone are an order: each occurs once, and none is beyond the end of the counter. */
  readonly #isStrict: boolean;
  /** 1 at the index of each contender that is deleted. */
  readonly #left: Uint8Array;
  /** The index before which all contenders are deleted. */
  #first = 0;

  constructor(names: readonly string[], line: QueueKind = 'locks') {
    const contenders = contenderNamesIn(line, names);
    this.inOrder = contenders.length > 1 ? contenders.sort(compareContenderNames) : contenders;
    this.#isStrict = isStrictOrder(this.inOrder);
    this.#left = new Uint8Array(contenders.length);
  }

  left(one: ContenderName): void {
    const place = this.#placeOf(one);
    if (place < 0) return;
    this.#left[place] = 1;
    while (this.#left[this.#first] === 1) this.#first++;
  }

  /**
   * Up to `most` contenders before `me` that exclude it and are not deleted, nearest first. `undefined` when `me` was
   * not listed, or is deleted.
   */
  ahead(me: ContenderName, most: number): ContenderName[] | undefined {
    const place = this.#placeOf(me);
    if (place < 0 || this.#left[place] === 1) return undefined;
    const last = this.#isStrict ? place : this.#lastNotBehind(place, me);
    const found: ContenderName[] = [];
    for (let at = last; at >= this.#first && found.length < most; at--) {
      const other = this.inOrder[at];
      if (other && at !== place && this.#left[at] !== 1 && excludes(other, me)) found.push(other);
    }
    return found;
  }

  /**
   * The contenders that `me` is to watch, nearest first. The first is the nearest before it that excludes it. Where
   * each waits for the one before, the next one follows (look-ahead). Readers are deleted in any order, and many at
   * once: of them only the nearest is of use. `undefined` when `me` was not listed, or is deleted.
   */
  predecessors(me: ContenderName): ContenderName[] | undefined {
    const ahead = this.ahead(me, 2);
    const isChain = me.kind !== 'read' && ahead?.every(({ kind }) => kind !== 'read');
    return isChain ? ahead : ahead?.slice(0, 1);
  }

  /** Whether any contender behind `me` has to wait for it. */
  isAwaited(me: ContenderName): boolean {
    return (
      this.#placeOf(me) >= 0 &&
      this.inOrder.some((other) => compareContenderNames(me, other) < 0 && excludes(me, other))
    );
  }

  /**
   * The index of a contender, or -1. By binary search: names are many, and a table of them would be built again with
   * every list.
   */
  #placeOf(me: ContenderName): number {
    let [from, to] = [0, this.inOrder.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      const other = this.inOrder[middle];
      if (other && compareContenderNames(other, me) < 0) from = middle + 1;
      else to = middle;
    }
    if (this.inOrder[from]?.name === me.name) return from;
    return this.#isStrict ? -1 : this.inOrder.findIndex(({ name }) => name === me.name);
  }

  // Equal numbers say nothing about the order: each takes the other to be before it, and neither is first.
  #lastNotBehind(place: number, me: ContenderName): number {
    let last = place;
    for (
      let next = this.inOrder[last + 1];
      next && compareContenderNames(next, me) === 0;
      next = this.inOrder[last + 1]
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
