import type { ServerClock } from '../sessions/server-clock.js';
import type { Session } from '../sessions/session.js';
import { Sessions } from '../sessions/sessions.js';
import type { SessionLimits } from '../sessions/sessions.js';
import { DataTree } from '../tree/data-tree.js';
import type { Replica } from './replica.js';
import { Draft } from './transaction.js';
import { firstZxid, nextZxid, zxidAfterElection } from './zxids.js';

/** What servers of one ensemble agree on: the tree, the sessions, and the order of all writes. */
export class Database {
  readonly tree = new DataTree();
  readonly sessions: Sessions;
  readonly clock: ServerClock;
  readonly limits: SessionLimits;
  readonly #replicas: Replica[] = [];
  #zxid = firstZxid();

  constructor(clock: ServerClock, limits: SessionLimits) {
    this.clock = clock;
    this.limits = limits;
    this.sessions = new Sessions(clock, limits, (session) => this.expire(session));
  }

  /** The last transaction. */
  get zxid(): bigint {
    return this.#zxid;
  }

  /** A new leader counts on from a number that no earlier one has given, and all servers know of it. */
  nextEpoch(): void {
    this.#zxid = zxidAfterElection(this.#zxid);
    this.transact(() => {});
  }

  serve(replica: Replica): void {
    this.#replicas.push(replica);
  }

  /** One transaction. It takes a number even when `work` throws, and then changes nothing. */
  transact<T>(work: (draft: Draft) => T): T {
    this.#zxid = nextZxid(this.#zxid);
    const draft = new Draft(this.tree, { zxid: this.#zxid, timeMs: Math.floor(this.clock.wall()) });
    try {
      return work(draft);
    } catch (error) {
      draft.undo();
      throw error;
    } finally {
      for (const replica of this.#replicas) replica.receive(draft);
    }
  }

  openSession(askedMs: number): Session {
    return this.transact(() => this.sessions.open(askedMs));
  }

  /** The session's znodes are gone, and everybody who watches them has been told, before its owner hears of it. */
  expire(session: Session): void {
    this.closeSession(session);
    session.connection?.close();
  }

  closeSession(session: Session): void {
    if (!session.isOpen) return;
    this.sessions.remove(session);
    this.transact((draft) => {
      for (const path of this.tree.index.ephemeralsOf(session.id)) draft.apply({ type: 'delete', path });
    });
  }
}
