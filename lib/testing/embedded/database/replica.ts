import { setTimer } from '../sessions/real-time.js';
import type { DataTree } from '../tree/data-tree.js';
import { Watches } from '../watches/watches.js';
import type { Watcher } from '../watches/watch-table.js';
import type { Transaction } from './transaction.js';

/**
 * What one server knows: normally all that is committed. While it lags it has a tree of its own, which is as old as it
 * says, and tells of changes when they get there.
 */
export class Replica<W extends Watcher = Watcher> {
  readonly watches = new Watches<W>();
  readonly #committed: DataTree;
  #own: DataTree | undefined;
  #zxid: bigint;
  #lagMs = 0;
  readonly #behind: Transaction[] = [];
  readonly #waiting: { readonly zxid: bigint; readonly action: () => void }[] = [];

  constructor(committed: DataTree, zxid: bigint) {
    this.#committed = committed;
    this.#zxid = zxid;
  }

  get tree(): DataTree {
    return this.#own ?? this.#committed;
  }

  /** The last transaction that is known here. */
  get zxid(): bigint {
    return this.#zxid;
  }

  /** Whether it is yet to hear of something that is committed, and will. */
  get isCatchingUp(): boolean {
    return this.#behind.length > 0 && this.#lagMs !== Infinity;
  }

  /** Transactions get here so many milliseconds after they are committed; `Infinity`: not before the lag is changed. */
  lag(ms: number): void {
    if (ms > 0) this.#own ??= this.#committed.copy();
    this.#lagMs = ms;
    const last = this.#behind.at(-1);
    if (ms === 0) this.#catchUp(this.#behind.length);
    else if (last) this.#awaitArrival(last);
  }

  receive(transaction: Transaction): void {
    if (!this.#own) return this.#learn(transaction);
    this.#behind.push(transaction);
    this.#awaitArrival(transaction);
  }

  /** Calls `action` when that transaction is known here, at once if it is. */
  whenKnown(zxid: bigint, action: () => void): void {
    if (zxid <= this.#zxid) action();
    else this.#waiting.push({ zxid, action });
  }

  #awaitArrival(transaction: Transaction): void {
    if (this.#lagMs === Infinity) return;
    setTimer(() => {
      // 0 when it has been caught up with already.
      if (this.#lagMs !== Infinity) this.#catchUp(this.#behind.indexOf(transaction) + 1);
    }, this.#lagMs).unref();
  }

  #catchUp(count: number): void {
    for (const transaction of this.#behind.splice(0, count)) {
      for (const { change } of transaction.changes) this.#own?.apply(change, transaction.moment);
      this.#learn(transaction);
    }
    if (this.#lagMs === 0 && this.#behind.length === 0) this.#own = undefined;
  }

  #learn({ moment, changes }: Transaction): void {
    this.#zxid = moment.zxid;
    for (const change of changes) this.watches.fire(change);
    while (this.#waiting[0] && this.#waiting[0].zxid <= this.#zxid) this.#waiting.shift()?.action();
  }
}
