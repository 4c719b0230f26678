import { setTimer } from '../sessions/real-time.js';
import type { DataTree } from '../tree/data-tree.js';
import { Watches } from '../watches/watches.js';
import type { Watcher } from '../watches/watch-table.js';
import type { Transaction } from './transaction.js';

/**
 * The state of one server, normally everything that is committed. While the server lags or is apart, it has a tree of
 * its own. That tree contains only the transactions that have arrived, and watch events are fired as they arrive.
 */
export class Replica<W extends Watcher = Watcher> {
  readonly watches = new Watches<W>();
  readonly #committed: DataTree;
  #own: DataTree | undefined;
  #zxid: bigint;
  readonly #sessionClosed: (id: bigint) => void;
  #lagMs = 0;
  #isApart = false;
  #behind: Transaction[] = [];
  #waiting: { readonly zxid: bigint; readonly action: () => void }[] = [];

  /** @param sessionClosed called with every session that has ended, once that transaction is applied here */
  constructor(committed: DataTree, zxid: bigint, sessionClosed: (id: bigint) => void = () => {}) {
    this.#committed = committed;
    this.#zxid = zxid;
    this.#sessionClosed = sessionClosed;
  }

  get tree(): DataTree {
    return this.#own ?? this.#committed;
  }

  /** The zxid of the last transaction that was applied here. */
  get zxid(): bigint {
    return this.#zxid;
  }

  /** Whether committed transactions are still to arrive here, and will. */
  get isCatchingUp(): boolean {
    return this.#behind.length > 0 && this.#lagMs !== Infinity;
  }

  /** Delays transactions by this many milliseconds after their commit. `Infinity`: until the lag is changed. */
  lag(ms: number): void {
    if (ms > 0) this.#own ??= this.#committed.copy();
    this.#lagMs = ms;
    const last = this.#behind.at(-1);
    if (ms === 0) this.#catchUp(this.#behind.length);
    else if (last) this.#awaitArrival(last);
  }

  /**
   * While apart, the server has only what it receives. Before it is back, it must have received everything that is
   * committed.
   */
  setApart(isApart: boolean): void {
    this.#isApart = isApart;
    if (isApart) this.#own ??= this.#committed.copy();
    else this.#share();
  }

  /**
   * Sets the state to all that is committed, like that of a server that has just joined a leader. It has no connections
   * then.
   */
  sync(zxid: bigint, isApart: boolean): void {
    this.#zxid = zxid;
    this.#isApart = isApart;
    this.#behind = [];
    this.#waiting = [];
    this.#own = isApart || this.#lagMs > 0 ? this.#committed.copy() : undefined;
  }

  receive(transaction: Transaction): void {
    if (!this.#own) return this.#learn(transaction);
    this.#behind.push(transaction);
    if (this.#lagMs === 0) this.#catchUp(this.#behind.length);
    else this.#awaitArrival(transaction);
  }

  /** Calls `action` when the transaction is applied here, at once if it already is. */
  whenKnown(zxid: bigint, action: () => void): void {
    if (zxid <= this.#zxid) action();
    else this.#waiting.push({ zxid, action });
  }

  #awaitArrival(transaction: Transaction): void {
    if (this.#lagMs === Infinity) return;
    setTimer(() => {
      // The count is 0 when this transaction has been caught up with already.
      if (this.#lagMs !== Infinity) this.#catchUp(this.#behind.indexOf(transaction) + 1);
    }, this.#lagMs).unref();
  }

  #catchUp(count: number): void {
    for (const transaction of this.#behind.splice(0, count)) {
      for (const { change } of transaction.changes) this.#own?.apply(change, transaction.moment);
      this.#learn(transaction);
    }
    this.#share();
  }

  #share(): void {
    if (!this.#isApart && this.#lagMs === 0 && this.#behind.length === 0) this.#own = undefined;
  }

  #learn({ moment, changes, closedSession }: Transaction): void {
    this.#zxid = moment.zxid;
    for (const change of changes) this.watches.fire(change);
    if (closedSession !== undefined) this.#sessionClosed(closedSession);
    while (this.#waiting[0] && this.#waiting[0].zxid <= this.#zxid) this.#waiting.shift()?.action();
  }
}
