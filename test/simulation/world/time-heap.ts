interface Entry<T> {
  readonly at: number;
  readonly number: number;
  readonly what: T;
}

/** A heap of entries by the time at which they are due. Those of one time are in the order of insertion. */
export class TimeHeap<T> {
  readonly #entries: Entry<T>[] = [];
  #count = 0;

  get first(): { readonly at: number; readonly what: T } | undefined {
    return this.#entries[0];
  }

  push(at: number, what: T): void {
    const entry = { at, number: this.#count++, what };
    const entries = this.#entries;
    let place = entries.length;
    entries.push(entry);
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = entries[parent] as Entry<T>;
      if (!isBefore(entry, above)) break;
      entries[place] = above;
      place = parent;
    }
    entries[place] = entry;
  }

  pop(): { readonly at: number; readonly what: T } | undefined {
    const entries = this.#entries;
    const [first] = entries;
    const last = entries.pop();
    if (!last || entries.length === 0) return first;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      const right = entries[child + 1];
      if (right && isBefore(right, entries[child] as Entry<T>)) child++;
      const below = entries[child];
      if (!below || !isBefore(below, last)) break;
      entries[place] = below;
      place = child;
    }
    entries[place] = last;
    return first;
  }
}

function isBefore(one: Entry<unknown>, other: Entry<unknown>): boolean {
  return one.at < other.at || (one.at === other.at && one.number < other.number);
}
