/** Somebody's place in a roster. */
export interface Place<T> {
  readonly member: T;
  /** Whether it was still there. */
  leave(): boolean;
}

/**
 * Who is there now, in the order in which they came. For those who come and go as often as locks are taken: a `Set` or `Map`
 * that lives for long makes itself a new table every so many entries, and each old table refers to the next. Once one of
 * them is among the collector's old objects, all that the later ones ever had stays until those are collected as well.
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

  /** As they are now, whatever becomes of them while somebody goes through this. */
  get members(): T[] {
    return this.head(this.#size);
  }

  /** The first of them, up to `most`. */
  head(most: number): T[] {
    return this.#upTo(most).map(({ member }) => member);
  }

  /** Comes in behind all others. */
  join(member: T): Place<T> {
    const link = new Link(member, this);
    this.#append(link);
    return link;
  }

  /** Takes the first one out. */
  shift(): T | undefined {
    const first = this.#first;
    first?.leave();
    return first?.member;
  }

  /** The first of them, up to `most`; they go behind all others. */
  rotate(most: number): Place<T>[] {
    const taken = this.#upTo(most);
    for (const link of taken) {
      this.remove(link);
      this.#append(link);
    }
    return taken;
  }

  /** @internal What has left refers to nobody who stays. */
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
  /** Until it has left. */
  #roster: LinkedList<T> | undefined;

  constructor(
    readonly member: T,
    roster: LinkedList<T>,
  ) {
    this.#roster = roster;
  }

  leave(): boolean {
    const roster = this.#roster;
    this.#roster = undefined;
    roster?.remove(this);
    return roster !== undefined;
  }
}

/**
 * What is known by name, for names that come and go as often as locks are taken. A `Map` that lives for long keeps alive what it
 * has had, see `LinkedList`; an object without a prototype does not.
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
    if (!this.has(name)) this.#size++;
    this.#entries[name] = value;
  }

  /** Whether there was one. */
  delete(name: string): boolean {
    if (!this.has(name)) return false;
    this.#size--;
    return delete this.#entries[name];
  }
}

interface Entry<V> {
  readonly key: string;
  readonly value: V;
}

/** A map of no more than so many entries: the one that was set longest ago goes first. For what may be forgotten. */
export class BoundedMap<V> {
  readonly #places = new StringMap<Place<Entry<V>>>();
  readonly #entries = new LinkedList<Entry<V>>();
  readonly #most: number;
  readonly #onForgotten: (value: V) => void;

  /** @param onForgotten told of what has to go because there is no room */
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
