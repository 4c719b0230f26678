/** The five keys of a wait queue, in the order in which scripts take them. */
export type QueueKeys = readonly [holders: string, waiting: string, token: string, data: string, observed: string];

/**
 * The kinds of wait queues that a key has: for the lock, its permits, an election, and the turns to put and to take
 * items.
 */
export type QueueKind = 'lock' | 'permits' | 'election' | 'put' | 'take';

/** The names of everything that is stored. All have one hash tag, so a cluster keeps them on one server. */
export class RedisKeys {
  /** The sessions by their end. */
  readonly sessions: string;
  /** The identity of the server that the data belong to, and the connections of the sessions. */
  readonly server: string;
  /** The ids of applied writes. */
  readonly applied: string;
  /** The beginning of all names. */
  readonly prefix: string;

  constructor(basePath: string) {
    this.prefix = `{${basePath}}:`;
    this.sessions = `${this.prefix}s`;
    this.server = `${this.prefix}i`;
    this.applied = `${this.prefix}a`;
  }

  /** The channel of a session. Scripts name it in the same way. */
  channel(session: string): string {
    return `${this.prefix}c:${session}`;
  }

  /** @param dataOf the key whose data the queue uses; default: its own */
  queue(kind: QueueKind, key: string, dataOf = key): QueueKeys {
    const rest = `:${kind}:${key}`;
    const { prefix } = this;
    return [
      `${prefix}h${rest}`,
      `${prefix}w${rest}`,
      `${prefix}t${rest}`,
      `${prefix}d:${kind}:${dataOf}`,
      `${prefix}o${rest}`,
    ];
  }

  /** The name of anything else: a record, a value, the items of a queue. */
  of(kind: string, key: string): string {
    return `${this.prefix}${kind}:${key}`;
  }
}
