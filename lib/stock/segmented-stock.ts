import { randomUUID } from 'node:crypto';
import { Deadline } from '../composite/deadline.js';
import type { RecordStore } from '../contract/record-store.js';
import type { Deduction, Leftover } from './deduction.js';
import type { StockEvents } from './stock-events.js';
import type { StockKeeper } from './stock-keeper.js';
import type { StockNames } from './stock-names.js';
import { checkCallOptions, checkDeduction, checkForgetting, checkId, checkRestock } from './stock.options.js';
import type {
  DeductOptions,
  ForgetOptions,
  ResolvedStockOptions,
  RestockOptions,
  StockCallOptions,
} from './stock.options.js';

/** The dependencies of a stock. */
interface StockParts {
  readonly key: string;
  readonly options: ResolvedStockOptions;
  /** Returns the `waitMs` that applies to a call that asks for this one, in milliseconds. */
  readonly waitMsOf: (waitMs: number) => number;
  readonly keeper: StockKeeper;
  readonly records: RecordStore;
  readonly names: StockNames;
  readonly events: StockEvents;
}

/**
 * A stock of units in segments, sold to many buyers at once from many processes. Never more units are sold than there
 * are, and none is lost.
 *
 * After a process is killed or loses its session, it has either sold, or its units are among the `leftovers`. A call
 * that rejects with `LockUnavailableError` may have had its effect. Call again with the same id, or `refund` the order.
 */
export class SegmentedStock {
  readonly #parts: StockParts;

  /** @internal */
  constructor(parts: StockParts) {
    this.#parts = parts;
  }

  /** The key as the application wrote it. */
  get key(): string {
    return this.#parts.key;
  }

  /**
   * Takes `quantity` units for an order, all or none.
   * @returns `null` when the stock is sold out. At one moment during the call there were too few units: in all segments
   *   together, or in each single one if the order may not be split. No caller was putting units back at that moment.
   * @throws LockTimeoutError when that was not known within `waitMs`, LockUnavailableError, LockConfigurationError
   *   (also for an `orderId` that was used for something else), and what a store of yours throws
   */
  async deduct(quantity: number, options: DeductOptions = {}): Promise<Deduction | null> {
    checkDeduction(quantity, options);
    const { orderId, routeBy, split = this.#parts.options.split } = options;
    const order = { orderId: orderId ?? randomUUID(), isNamed: orderId !== undefined, quantity, routeBy, split };
    const sold = await this.#within(options, (signal) => this.#parts.keeper.deduct({ ...order, signal }));
    if (sold) this.#parts.events.publish('sold', sold.units, sold.parts.length);
    else this.#parts.events.publish('soldOut', quantity);
    return sold;
  }

  /**
   * Puts the units of an order back, once. An order that is not known cannot be deducted any more afterwards.
   * @returns whether this call put any units back: `false` when another call did, or there were none
   * @throws as `deduct`
   */
  async refund(order: Deduction | string, options: StockCallOptions = {}): Promise<boolean> {
    const orderId = typeof order === 'string' ? order : (Object(order) as Partial<Deduction>).orderId;
    checkId('orderId', orderId);
    checkCallOptions(options);
    const isRefunded = await this.#within(options, (signal) => this.#parts.keeper.refund(orderId, signal));
    if (isRefunded) this.#parts.events.publish('refunded');
    return isRefunded;
  }

  /** Adds units, spread over the segments. @throws as `deduct` */
  async restock(units: number, options: RestockOptions = {}): Promise<void> {
    checkRestock(units, options);
    const { restockId = randomUUID() } = options;
    const { segments } = this.#parts.options;
    const delivery = { restockId, units, segments };
    await this.#within(options, (signal) => this.#parts.keeper.restock({ ...delivery, signal }));
    this.#parts.events.publish('restocked', units);
  }

  /**
   * Returns the number of units. For the built-in store it is exact, at one moment during the call. For a store of
   * yours it is the sum of what its segments return one after another. That sum may count a unit twice or not at all.
   * @throws as `deduct`
   */
  async available(options: StockCallOptions = {}): Promise<number> {
    checkCallOptions(options);
    return this.#within(options, (signal) => this.#parts.keeper.available(signal));
  }

  /**
   * Returns the orders that have taken units, or may have, and that are neither sold nor put back entirely. They are at
   * work right now, or a call ended in between. After a repeated refund that failed, all units may be back already. The
   * built-in store has none.
   */
  async leftovers(): Promise<readonly Leftover[]> {
    return this.#parts.keeper.leftovers();
  }

  /**
   * Puts back the units that belong to no order any more. This is also done whenever the stock seems to be sold out.
   * @returns the number of units that were put back
   * @throws as `deduct`
   */
  async recover(options: StockCallOptions = {}): Promise<number> {
    checkCallOptions(options);
    return this.#within(options, (signal) => this.#parts.keeper.recover(signal));
  }

  /**
   * Forgets deliveries, and orders that were sold or refunded, that are older than `olderThanMs`. These orders cannot
   * be refunded here any more, and all these ids count as new. Each one that is remembered takes up the servers'
   * memory.
   * @returns how many were forgotten
   */
  async forget(options: ForgetOptions): Promise<number> {
    checkForgetting(options);
    return forgetOrders(this.#parts.records, this.#parts.names, options.olderThanMs);
  }

  async #within<T>(options: StockCallOptions, ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { waitMs = this.#parts.options.waitMs, signal } = options;
    signal?.throwIfAborted();
    return new Deadline(this.key, this.#parts.waitMsOf(waitMs)).within([signal], ask);
  }
}

const AT_ONCE = 32;

/** Removes the records of orders and deliveries that are older than `olderThanMs`. @returns how many */
async function forgetOrders(records: RecordStore, names: StockNames, olderThanMs: number): Promise<number> {
  const before = Date.now() - olderThanMs;
  const all: string[] = [];
  for (const above of [names.orders, names.restocks]) {
    all.push(...(await records.list(above)).map((last) => `${above}/${last}`));
  }
  let forgotten = 0;
  for (let place = 0; place < all.length; place += AT_ONCE) {
    const removals = all.slice(place, place + AT_ONCE).map((name) => forget(records, name, before));
    forgotten += (await Promise.all(removals)).filter(Boolean).length;
  }
  return forgotten;
}

async function forget(records: RecordStore, name: string, before: number): Promise<boolean> {
  const record = await records.read(name);
  if (!record || record.writtenAt.getTime() > before) return false;
  const write = await records.write([{ name, value: undefined, ifVersion: record.version }]);
  return write.isApplied;
}
