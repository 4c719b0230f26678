// What is thrown away is read again.
const MOST_KEPT = 1_000;

/** One of something a key, for all who name the key; of those that were asked for longest ago, only some are kept. */
export class SharedByKey<T extends { readonly isIdle: boolean }> {
  readonly #kept = new Map<string, T>();

  /** What the key has, or what `make` makes now. */
  of(key: string, make: () => T): T {
    const one = this.#kept.get(key) ?? make();
    this.#kept.delete(key);
    this.#kept.set(key, one);
    if (this.#kept.size > MOST_KEPT) this.#dropOldestIdle();
    return one;
  }

  #dropOldestIdle(): void {
    for (const [key, one] of this.#kept) {
      if (one.isIdle) return void this.#kept.delete(key);
    }
  }
}
