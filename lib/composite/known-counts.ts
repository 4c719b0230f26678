import { BoundedMap } from '../async/bounded-map.js';

// A guess that is forgotten costs one acquisition; keys come and go.
const MOST_KNOWN = 10_000;

/** The counts that were found recorded and are not what the options say. A hint: whoever acquires reads the record. */
export class KnownCounts {
  readonly #counts = new BoundedMap<number>(MOST_KNOWN);

  /** What was found last; `undefined` where the options were right, as far as anybody here knows. */
  get(name: string): number | undefined {
    return this.#counts.get(name);
  }

  /** Remembers what was found where `guess` was expected. Says whether that is news. */
  note(name: string, found: number, guess: number): boolean {
    if (found === (this.#counts.get(name) ?? guess)) return false;
    this.#counts.set(name, found);
    return true;
  }
}
