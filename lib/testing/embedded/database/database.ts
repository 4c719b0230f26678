import type { ServerClock } from '../sessions/server-clock.js';
import type { Session } from '../sessions/session.js';
import { Sessions } from '../sessions/sessions.js';
import type { SessionLimits } from '../sessions/sessions.js';
import { DataTree } from '../tree/data-tree.js';
import { resetChanges } from '../tree/reset-changes.js';
import { Draft } from './transaction.js';
import type { Transaction } from './transaction.js';
import { firstZxid, nextZxid, zxidAfterElection } from './zxids.js';

/** A server that is told of every transaction. */
export interface Receiver {
  receive(transaction: Transaction): void;
}

/** What servers of one ensemble agree on: the tree, the sessions, and the order of all writes. */
export class Database {
  readonly tree = new DataTree();
  readonly sessions: Sessions;
  readonly clock: ServerClock;
  readonly limits: SessionLimits;
  readonly #receivers: Receiver[] = [];
  #propose = (work: () => void) => work();
  readonly #firstZxid = firstZxid();
  #zxid = this.#firstZxid;
  #isTurnedBack = false;

  constructor(clock: ServerClock, limits: SessionLimits) {
    this.clock = clock;
    this.limits = limits;
    this.sessions = new Sessions(clock, limits, (session) => {
      this.propose(() => this.closeSession(session));
    });
  }

  /** The last transaction. */
  get zxid(): bigint {
    return this.#zxid;
  }

  /** A new leader counts on from a number that no earlier one has given, and all servers know of it. */
  nextEpoch(): void {
    this.#zxid = this.#isTurnedBack ? zxidAfterElection(this.#zxid, 0) : zxidAfterElection(this.#zxid);
    this.transact(() => {});
  }

  /** As on disks that were lost: no znodes, no sessions, and numbers that have been given before. Nobody serves it now. */
  loseData(): void {
    for (const session of this.sessions.all()) this.sessions.remove(session);
    this.transact((draft) => {
      for (const change of resetChanges(draft.tree)) draft.apply(change);
    });
    this.#zxid = this.#firstZxid;
    this.#isTurnedBack = true;
  }

  serve(receiver: Receiver): void {
    this.#receivers.push(receiver);
  }

  /** From now on what the leader wants by itself is done when `propose` does it: once the servers can agree. */
  decideBy(propose: (work: () => void) => void): void {
    this.#propose = propose;
  }

  /** Does what the leader wants by itself. */
  propose(work: () => void): void {
    this.#propose(work);
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
      for (const receiver of this.#receivers) receiver.receive(draft);
    }
  }

  openSession(askedMs: number, owner: object): Session {
    return this.transact(() => this.sessions.open(askedMs, owner));
  }

  /** The session's znodes are gone, and everybody who watches them has been told, before its owner hears of it. */
  closeSession(session: Session): void {
    if (!session.isOpen) return;
    this.sessions.remove(session);
    this.transact((draft) => {
      draft.closedSession = session.id;
      for (const path of this.tree.index.ephemeralsOf(session.id)) draft.apply({ type: 'delete', path });
    });
  }
}
