import { Dictionary } from './dictionary.js';
import { Roster } from './roster.js';
import type { Place } from './roster.js';

interface Entry<V> {
  readonly key: string;
  readonly value: V;
}

/** A map of no more than so many entries: the one that was set longest ago goes first. For what may be forgotten. */
export class BoundedMap<V> {
  readonly #places = new Dictionary<Place<Entry<V>>>();
  readonly #entries = new Roster<Entry<V>>();
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
