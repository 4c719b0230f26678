/**
 * What is known by name, for names that come and go as often as locks are taken. A `Map` that lives for long keeps alive what it
 * has had, see `Roster`; an object without a prototype does not.
 */
export class Dictionary<V> {
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
