import type { Session } from '../sessions/session.js';
import type { Database, Receiver } from './database.js';

/** The way from one server to where sessions and the order of writes are decided. Whatever is lost on it is not called. */
export interface Leadership {
  /** Does `work` once the servers agree; calls `done` when this server hears of it. */
  commit<T>(work: () => T, done: (result: T) => void): void;
  /** Does `work` with the last transaction that the leader knows of. It asks no other server. */
  sync<T>(work: (zxid: bigint) => T, done: (result: T) => void): void;
  /** A client has come back with a session; `done` is told that session, or that it is over. */
  renew(id: bigint, askedMs: number, done: (session: Session | undefined) => void): void;
  /** A client has said something. */
  touch(session: Session): void;
}

/** One server that decides alone, and at once. */
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
