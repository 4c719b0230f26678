import type { Session } from '../sessions/session.js';
import type { Database, Receiver } from './database.js';

/**
 * The connection of one server to the place where sessions and the order of writes are decided. A callback whose
 * message is lost is not called.
 */
export interface Leadership {
  /** Does `work` once the servers agree. Calls `done` when this server is notified of it. */
  commit<T>(work: () => T, done: (result: T) => void): void;
  /** Does `work` with the leader's last transaction. It asks no other server. */
  sync<T>(work: (zxid: bigint) => T, done: (result: T) => void): void;
  /** Called when a client returns with a session. `done` gets the session, or `undefined` when it is over. */
  renew(id: bigint, askedMs: number, done: (session: Session | undefined) => void): void;
  /** Called when a client has sent something. */
  touch(session: Session): void;
}

/** The leadership of a single server, which decides alone and at once. */
export class Alone implements Leadership {
  readonly #database: Database;

  constructor(database: Database, receiver: Receiver) {
    this.#database = database;
    database.serve(receiver);
  }

  commit<T>(work: () => T, done: (result: T) => void): void {
    done(work());
  }

  sync<T>(work: (zxid: bigint) => T, done: (result: T) => void): void {
    done(work(this.#database.zxid));
  }

  renew(id: bigint, askedMs: number, done: (session: Session | undefined) => void): void {
    done(this.#database.sessions.renew(id, askedMs, this));
  }

  touch(session: Session): void {
    this.#database.sessions.touch(session);
  }
}
