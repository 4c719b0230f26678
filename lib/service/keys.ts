import { hasMissingValue } from '../contract/key.js';
import type { LockBackend } from '../contract/lock-backend.js';

// Keys made of a missing value are few, unless more values are in them; by then the log has said enough.
const MOST_WARNINGS = 1_000;

/** The keys of one connection, each of which passes here before anything else is done with it. */
export class Keys {
  readonly #backend: Pick<LockBackend, 'identify'>;
  readonly #warn: (message: string) => void;
  readonly #warned = new Set<string>();

  constructor(backend: Pick<LockBackend, 'identify'>, warn: (message: string) => void) {
    this.#backend = backend;
    this.#warn = warn;
  }

  /** What the backend calls the key. @throws LockConfigurationError that says what is wrong with the key */
  identify(key: string): string {
    const identity = this.#backend.identify(key);
    if (hasMissingValue(key)) this.#warnOnce(key);
    return identity;
  }

  #warnOnce(key: string): void {
    if (this.#warned.has(key) || this.#warned.size === MOST_WARNINGS) return;
    this.#warned.add(key);
    this.#warn(
      `the key "${key}" looks as if a value were missing in it: all callers without that value share one key. ` +
        'Make it with the tag key`…`, such as key`order/${id}`: it refuses missing values',
    );
  }
}
