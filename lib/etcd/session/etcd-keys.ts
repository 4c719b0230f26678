import type { KeyRange } from '../wire/requests.js';

/**
 * The kinds of wait queues that a key has: for the lock, its permits, an election, and the turns to put and to take
 * items.
 */
export type QueueKind = 'lock' | 'permits' | 'election' | 'put' | 'take';

/** The places of a wait queue. */
export interface QueueKeys {
  /** The beginning of the keys of its entries. */
  readonly entries: string;
  /** The key of its number of permits. */
  readonly number?: string | undefined;
}

/** The names of everything that is stored. */
export class EtcdKeys {
  readonly #base: string;

  constructor(basePath: string) {
    this.#base = basePath;
  }

  /** The key that lives as long as the lease of a session. */
  session(id: string): string {
    return `${this.#base}/session/${id}`;
  }

  /** @param numberOf the key whose number of permits the queue uses; default: its own */
  queue(kind: QueueKind, key: string, numberOf = key): QueueKeys {
    const entries = this.below(kind, key);
    return kind === 'permits' ? { entries, number: this.of('number', numberOf) } : { entries };
  }

  /** The name of anything that is one key: a record, a value. */
  of(kind: string, key: string): string {
    return `${this.#base}/${kind}/${key}`;
  }

  /**
   * The beginning of several keys of one name. No name has an empty segment: what is below a name is not below any
   * other.
   */
  below(kind: string, key: string): string {
    return `${this.#base}/${kind}/${key}//`;
  }
}

/** Returns the name in a key of `below`, with the kind's prefix cut off: `orders/42` of `orders/42//1-7`. */
export function nameBelow(key: string, above: string): string | undefined {
  const end = key.indexOf('//', above.length);
  return end < 0 ? undefined : key.slice(above.length, end);
}

/** Returns the range of all keys that begin with a text, which ends with a slash. */
export function rangeBelow(prefix: string): Required<KeyRange> {
  // '0' is the character after the slash.
  return { key: prefix, end: `${prefix.slice(0, -1)}0` };
}
