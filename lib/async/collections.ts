/** The place of a member in a `LinkedList`. */
export interface Place<T> {
  readonly member: T;
  /** Removes the member. Returns whether it was still in the list. */
  leave(): boolean;
}

/**
 * The present members, in the order in which they were added. For members that are added and removed as often as locks
 * are acquired.
 *
 * A `Set` or `Map` that lives long allocates a new table every so many entries, and each old table refers to the next.
 * Once one of them is among the garbage collector's old objects, all former entries of the later tables remain in
 * memory. They remain until those old objects are collected as well.
 */
export class LinkedList<T> {
  #first: Link<T> | undefined;
  #last: Link<T> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get first(): T | undefined {
    return this.#first?.member;
  }

  /** A copy of the list, which later changes do not affect. */
  get members(): T[] {
    return this.head(this.#size);
  }

  /** Returns the first members, up to `most`. */
  head(most: number): T[] {
    return this.#upTo(most).map(({ member }) => member);
  }

  /** Adds a member at the end. */
  join(member: T): Place<T> {
    const link = new Link(member, this);
    this.#append(link);
    return link;
  }

  /** Removes the first member and returns it. */
  shift(): T | undefined {
    const first = this.#first;
    first?.leave();
    return first?.member;
  }

  /** Moves the first members, up to `most`, to the end. Returns their places. */
  rotate(most: number): Place<T>[] {
    const taken = this.#upTo(most);
    for (const link of taken) {
      this.remove(link);
      this.#append(link);
    }
    return taken;
  }

  /** @internal Removes a link. A removed link refers to no other link. */
  remove(link: Link<T>): void {
    const { before, after } = link;
    this.#size--;
    if (before) before.after = after;
    else this.#first = after;
    if (after) after.before = before;
    else this.#last = before;
    link.before = undefined;
    link.after = undefined;
  }

  #append(link: Link<T>): void {
    this.#size++;
    link.before = this.#last;
    if (this.#last) this.#last.after = link;
    else this.#first = link;
    this.#last = link;
  }

  #upTo(most: number): Link<T>[] {
    const links: Link<T>[] = [];
    for (let link = this.#first; link && links.length < most; link = link.after) links.push(link);
    return links;
  }
}

class Link<T> implements Place<T> {
  before: Link<T> | undefined = undefined;
  after: Link<T> | undefined = undefined;
  /** `undefined` after the member has been removed. */
  #list: LinkedList<T> | undefined;

  constructor(
    readonly member: T,
    list: LinkedList<T>,
  ) {
    this.#list = list;
  }

  leave(): boolean {
    const list = this.#list;
    this.#list = undefined;
    list?.remove(this);
    return list !== undefined;
  }
}

/**
 * A map for names that are added and removed as often as locks are acquired. A `Map` that lives long keeps its former
 * entries in memory, see `LinkedList`. An object without a prototype does not.
 */
export class StringMap<V> {
  readonly #entries: Record<string, V | undefined> = Object.create(null) as Record<string, V | undefined>;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get names(): string[] {
    return Object.keys(this.#entries);
  }

  get values(): V[] {
    return this.names.map((name) => this.#entries[name] as V);
  }

  has(name: string): boolean {
    return name in this.#entries;
  }

  get(name: string): V | undefined {
    return this.#entries[name];
  }

  set(name: string, value: V): void {
    if (!(name in this.#entries)) this.#size++;
    this.#entries[name] = value;
  }

  /** Deletes the entry. Returns whether there was one. */
  delete(name: string): boolean {
    if (!(name in this.#entries)) return false;
    this.#size--;
    return delete this.#entries[name];
  }
}

interface Entry<V> {
  readonly key: string;
  readonly value: V;
}

/**
 * A map of at most `most` entries, for values that may be forgotten. The entry that was set longest ago is removed
 * first.
 */
export class BoundedMap<V> {
  readonly #places = new StringMap<Place<Entry<V>>>();
  readonly #entries = new LinkedList<Entry<V>>();
  readonly #most: number;
  readonly #onForgotten: (value: V) => void;

  /** @param onForgotten called with each value that is removed because the map is full */
  constructor(most: number, onForgotten: (value: V) => void = () => {}) {
    this.#most = most;
    this.#onForgotten = onForgotten;
  }

  get(key: string): V | undefined {
    return this.#places.get(key)?.member.value;
  }

  set(key: string, value: V): void {
    this.delete(key);
    this.#places.set(key, this.#entries.join({ key, value }));
    if (this.#entries.size > this.#most) this.#forgetFirst();
  }

  delete(key: string): void {
    this.#places.get(key)?.leave();
    this.#places.delete(key);
  }

  #forgetFirst(): void {
    const oldest = this.#entries.shift();
    if (!oldest) return;
    this.#places.delete(oldest.key);
    this.#onForgotten(oldest.value);
  }
}
