import { LockConfigurationError } from '../../contract/errors.js';
import type { KeyRange } from '../wire/requests.js';

/**
 * The kinds of wait queues that a key has: for the lock, its permits, an election, and the turns to put and to take
 * items.
 */
export type QueueKind = 'lock' | 'permits' | 'election' | 'put' | 'take';

/** The places of a wait queue. */
export interface QueueKeys {
  /** The beginning of the keys of its entries, which have no slash after it, or one at once. */
  readonly entries: string;
  /** The beginning of the keys of own entries. */
  readonly own: string;
  /** The key of its number of permits. */
  readonly number?: string | undefined;
  /** Whether the value of an entry is what a candidate proclaims, and nothing else. */
  readonly hasBareValues?: boolean;
}

/** The clients that keys which begin with a slash are shared with: none, or those of Go's `concurrency` package. */
export type Wire = 'own' | 'go';

/** The names of everything that is stored. */
export class EtcdKeys {
  readonly #base: string;
  readonly #wire: Wire;

  constructor(basePath: string, wire: Wire = 'own') {
    this.#base = basePath;
    this.#wire = wire;
  }

  /** Names a key in messages, and in memory. @throws LockConfigurationError for an absolute one that cannot be used */
  identify(key: string): string {
    return isAbsolute(key) ? this.#shared('lock', key).entries : `${this.#base}/${key}`;
  }

  /** The key that lives as long as the lease of a session. */
  session(id: string): string {
    return `${this.#base}/session/${id}`;
  }

  /**
   * @param numberOf the key whose number of permits the queue uses; default: its own
   * @throws LockConfigurationError for an absolute key that cannot be used
   */
  queue(kind: QueueKind, key: string, numberOf = key): QueueKeys {
    if (isAbsolute(key)) return this.#shared(kind, key);
    const entries = this.below(kind, key);
    const queue = { entries, own: entries };
    return kind === 'permits' ? { ...queue, number: this.of('number', numberOf) } : queue;
  }

  /** The name of anything that is one key: a record, a value. */
  of(kind: string, key: string): string {
    if (isAbsolute(key)) throw refusal(key, ONLY_LOCKS);
    return `${this.#base}/${kind}/${key}`;
  }

  /**
   * The beginning of several keys of one name. No name has an empty segment: what is below a name is not below any
   * other.
   */
  below(kind: string, key: string): string {
    if (isAbsolute(key)) throw refusal(key, ONLY_LOCKS);
    return `${this.#base}/${kind}/${key}//`;
  }

  /**
   * The wait queue of Go's prefix, with or without a slash at its end. A lock of Go waits for all keys below its prefix,
   * and own entries are below both.
   */
  #shared(kind: QueueKind, key: string): QueueKeys {
    if (this.#wire === 'own') {
      const instead =
        "leave out the slash: the key is stored below `basePath`; or set `wire: 'go'` to share it with Go";
      throw refusal(key, `etcd() has no absolute keys; ${instead}`);
    }
    if (kind !== 'lock' && kind !== 'election') throw refusal(key, ONLY_LOCKS);
    const [entries, base] = [`${key}/`, `${this.#base}/`];
    if (entries.startsWith(base) || base.startsWith(entries)) {
      throw refusal(key, 'is at the base path, where the own keys of this package are: choose another prefix');
    }
    return { entries, own: `${entries}/`, ...(kind === 'election' && { hasBareValues: true }) };
  }
}

const ONLY_LOCKS = 'only locks and elections are shared with Go: leave out the slash';

function refusal(key: string, why: string): LockConfigurationError {
  return new LockConfigurationError(`"${key}": ${why}`, { key });
}

/** Whether a key is a prefix of Go's. */
export function isAbsolute(key: string): boolean {
  return key.startsWith('/');
}

/** Whether a key is that of an entry. Below a prefix of Go's there may be other prefixes. */
export function isEntryOf({ entries }: QueueKeys, key: string): boolean {
  return key.lastIndexOf('/') <= entries.length;
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
