import { orAbort } from '../async/abort.js';
import type { RecordStore } from '../contract/record-store.js';
import { checkDelivered } from './deliveries.js';
import { parsed, soldBefore } from './deduction.js';
import type { Deduction, Leftover, OrderRecord } from './deduction.js';
import type { Delivery, Order, StockKeeper } from './stock-keeper.js';
import type { StockNames } from './stock-names.js';
import { Count, Purchase, Refund, Restock } from './stock-entries.js';
import type { StockWriter } from './stock-writer.js';

/** A stock in records beside the locks. It needs no lock and has no leftovers. `stock-writer.ts` explains how. */
export class RecordStock implements StockKeeper {
  readonly #records: RecordStore;
  readonly #names: StockNames;
  readonly #writer: StockWriter;
  readonly #mergeBelow: number;

  constructor(records: RecordStore, names: StockNames, writer: StockWriter, mergeBelow: number) {
    this.#records = records;
    this.#names = names;
    this.#writer = writer;
    this.#mergeBelow = mergeBelow;
  }

  async deduct(order: Order): Promise<Deduction | null> {
    const name = this.#names.order(order.orderId);
    const soldBefore = () => this.#soldBefore(order);
    const again = () => this.deduct(order);
    return this.#writer.serve(new Purchase(order, name, this.#mergeBelow, soldBefore, again), order.signal);
  }

  async refund(orderId: string, signal: AbortSignal): Promise<boolean> {
    const name = this.#names.order(orderId);
    const record = await orAbort(this.#records.read(name), signal);
    if (!record) return this.#refuseEver(orderId, signal);
    const { state, parts } = parsed<OrderRecord>(record);
    if (state === 'refunded') return false;
    return this.#writer.serve(new Refund(name, record.version, parts), signal);
  }

  async restock(delivery: Delivery): Promise<void> {
    const name = this.#names.restock(delivery.restockId);
    const repeated = async () => {
      const record = await orAbort(this.#records.read(name), delivery.signal);
      // A delivery that was forgotten in between counts as new.
      if (!record) return this.restock(delivery);
      checkDelivered(delivery, record);
    };
    return this.#writer.serve(new Restock(delivery, name, repeated), delivery.signal);
  }

  async available(signal: AbortSignal): Promise<number> {
    return this.#writer.serve(new Count(), signal);
  }

  async leftovers(): Promise<readonly Leftover[]> {
    return [];
  }

  async recover(): Promise<number> {
    return 0;
  }

  async #soldBefore({ orderId, quantity, signal }: Order): Promise<Deduction | undefined> {
    const record = await orAbort(this.#records.read(this.#names.order(orderId)), signal);
    return record && soldBefore(orderId, quantity, parsed<OrderRecord>(record));
  }

  /** Refunds an order that has no record. If its deduction is still on its way, it is refused. */
  async #refuseEver(orderId: string, signal: AbortSignal): Promise<boolean> {
    const value = JSON.stringify({ state: 'refunded', parts: [] } satisfies OrderRecord);
    const write = await this.#records.write([{ name: this.#names.order(orderId), value, ifVersion: 'absent' }]);
    return write.isApplied ? false : this.refund(orderId, signal);
  }
}
