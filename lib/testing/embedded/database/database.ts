import type { ServerClock } from '../sessions/server-clock.js';
import type { Session } from '../sessions/session.js';
import { Sessions } from '../sessions/sessions.js';
import type { SessionLimits } from '../sessions/sessions.js';
import { DataTree } from '../tree/data-tree.js';
import { resetChanges } from '../tree/reset-changes.js';
import { Draft } from './transaction.js';
import type { Transaction } from './transaction.js';
import { firstZxid, nextZxid, zxidAfterElection } from './zxids.js';

/** A server that receives every transaction. */
export interface Receiver {
  receive(transaction: Transaction): void;
}

/** The state that the servers of an ensemble agree on: the tree, the sessions, and the order of all writes. */
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

  /** The zxid of the last transaction. */
  get zxid(): bigint {
    return this.#zxid;
  }

  /** Starts an epoch: a new leader counts on from a number that no earlier leader has used. All servers receive it. */
  nextEpoch(): void {
    this.#zxid = this.#isTurnedBack ? zxidAfterElection(this.#zxid, 0) : zxidAfterElection(this.#zxid);
    this.transact(() => {});
  }

  /**
   * Loses all data, as when disks are lost: no znodes, no sessions, and zxids that repeat earlier ones. No server may
   * serve it meanwhile.
   */
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

  /** Sets how the leader's own work is done: `propose` does it once the servers can agree. */
  decideBy(propose: (work: () => void) => void): void {
    this.#propose = propose;
  }

  /** Does the leader's own work. */
  propose(work: () => void): void {
    this.#propose(work);
  }

  /** Runs one transaction. It uses up a zxid even when `work` throws, and then changes nothing. */
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

  /** Closes a session. Its znodes are deleted, and their watchers are notified, before its owner is notified. */
  closeSession(session: Session): void {
    if (!session.isOpen) return;
    this.sessions.remove(session);
    this.transact((draft) => {
      draft.closedSession = session.id;
      for (const path of this.tree.index.ephemeralsOf(session.id)) draft.apply({ type: 'delete', path });
    });
  }
}
