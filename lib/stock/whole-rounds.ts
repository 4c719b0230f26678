/**
 * Orders for which no single segment had enough units. They are served under the leases of all segments. Then all units
 * can be added up, and no other caller takes units or puts them back meanwhile. The units that a killed process has
 * left can be put back first. So "sold out" is certain. Orders of this process that arrive while the leases are waited
 * for are served in the same round.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { onAbort } from '../async/abort.js';
import { deferred } from '../async/deferred.js';
import type { Deferred } from '../async/deferred.js';
import type { SegmentedLock } from '../composite/segmented-lock.js';
import { LockLostError, LockUnavailableError } from '../contract/errors.js';
import type { SegmentLease } from '../contract/segment.options.js';
import { soldBefore } from './deduction.js';
import type { Deduction } from './deduction.js';
import { DryHints } from './dry-hints.js';
import type { Order, SegmentStore } from './stock-keeper.js';
import { outsideOfAll, recoverOrders, takeOrder } from './take-order.js';
import type { StoreTools } from './take-order.js';

interface Waiting {
  readonly order: Order;
  readonly tools: StoreTools;
  /** The same tools, with the store called in the async context of the order's caller. */
  readonly own: StoreTools;
  readonly outcome: Deferred<Deduction | null>;
  isServed: boolean;
}

export class WholeRounds {
  readonly #lock: Pick<SegmentedLock, 'withAll'>;
  #waiting: Waiting[] = [];
  #isRunning = false;
  /** Ends the wait for the leases when no order needs them any more. */
  #limit = new AbortController();

  constructor(lock: Pick<SegmentedLock, 'withAll'>) {
    this.#lock = lock;
  }

  get isIdle(): boolean {
    return !this.#isRunning;
  }

  /**
   * Returns the outcome of the order. Rejects with `order.signal`'s reason when it aborts, unless the order is being
   * served then.
   */
  async settle(order: Order, tools: StoreTools): Promise<Deduction | null> {
    order.signal.throwIfAborted();
    const waiting: Waiting = { order, tools, own: inContext(tools), outcome: deferred(), isServed: false };
    const dispose = onAbort(order.signal, (reason) => this.#giveUp(waiting, reason));
    this.#waiting.push(waiting);
    // A round serves several callers, so it must not run in the async context of one of them, with the leases in it.
    if (!this.#isRunning) outsideOfAll(() => void this.#run());
    return waiting.outcome.promise.finally(dispose);
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      this.#limit = new AbortController();
      const { signal } = this.#limit;
      const round = this.#lock.withAll((leases) => this.#round(leases), { waitMs: Infinity, signal, onLost: 'ignore' });
      await round.catch((error: unknown) => {
        // Orders that arrived after the others were aborted are served in the next round.
        if (!signal.aborted) this.#waiting.splice(0).forEach(({ outcome }) => outcome.reject(error));
      });
    }
    this.#isRunning = false;
  }

  async #round(leases: readonly SegmentLease[]): Promise<void> {
    const [first] = this.#waiting;
    if (!first) return;
    const stock = await WholeStock.open(first.tools, leases);
    // Orders that arrive from here on wait for the next round: other processes need the segments, too.
    for (let places = this.#waiting.length; places > 0 && stock.isHeld; places--) {
      const next = this.#waiting.shift();
      if (!next) return;
      next.isServed = true;
      await stock.serve(next.order, next.own).then(next.outcome.resolve, next.outcome.reject);
    }
  }

  #giveUp(waiting: Waiting, reason: unknown): void {
    if (waiting.isServed) return;
    this.#waiting = this.#waiting.filter((other) => other !== waiting);
    waiting.outcome.reject(reason);
    if (this.#waiting.length === 0) this.#limit.abort(reason);
  }
}

/** Returns the store, with its methods called in the async context of the order's caller. */
function inContext({ store, ...tools }: StoreTools): StoreTools {
  const context = AsyncLocalStorage.snapshot();
  const bound: SegmentStore = {
    take: (request) => context(() => store.take(request)),
    putBack: (request) => context(() => store.putBack(request)),
  };
  return { ...tools, store: bound };
}

/** A stock of which every segment is held. No other caller takes from it, so what is known about it remains true. */
export class WholeStock {
  readonly #leases: readonly SegmentLease[];
  readonly #dry = new DryHints(Infinity);
  /** The error because of which not all units of undecided orders could be put back. */
  #failure: { readonly error: unknown } | undefined;
  /** The number of units that are left. Infinite until an order could not be served. */
  #left = Infinity;

  private constructor(leases: readonly SegmentLease[]) {
    this.#leases = leases;
  }

  /** Puts back the units that killed processes have left. */
  static async open(tools: StoreTools, leases: readonly SegmentLease[]): Promise<WholeStock> {
    const stock = new WholeStock(leases);
    await recoverOrders(tools, leases, stock.#dry).catch((error: unknown) => (stock.#failure = { error }));
    return stock;
  }

  get isHeld(): boolean {
    return this.#leases.every((lease) => lease.isHeld());
  }

  /**
   * @returns `null` when sold out
   * @throws what the store throws, also when units that the order may need could not be put back
   */
  async serve(order: Order, tools: StoreTools): Promise<Deduction | null> {
    if (order.quantity > this.#left) return this.#soldOut(order, tools);
    const attempt = await takeOrder(tools, order, this.#leases, this.#dry);
    switch (attempt.outcome) {
      case 'sold':
        this.#left -= order.quantity;
        return attempt.sold;
      case 'dry':
        if (order.split) this.#left = attempt.found;
        return this.#soldOut(order, tools);
      case 'contested':
        return (await this.#soldBefore(order, tools)) ?? this.#undecided(order);
      default:
        throw new LockLostError(tools.key, `while "${order.orderId}" was served; it was not sold`);
    }
  }

  async #soldOut(order: Order, tools: StoreTools): Promise<Deduction | null> {
    const sold = order.isNamed ? await this.#soldBefore(order, tools) : undefined;
    if (sold) return sold;
    if (this.#failure) throw this.#failure.error;
    return null;
  }

  async #soldBefore({ orderId, quantity }: Order, { open }: StoreTools): Promise<Deduction | undefined> {
    const record = await open.find(orderId);
    return record && soldBefore(orderId, quantity, record);
  }

  #undecided({ orderId }: Order): never {
    if (this.#failure) throw this.#failure.error;
    throw new LockUnavailableError(`the order "${orderId}" is at work elsewhere`);
  }
}
