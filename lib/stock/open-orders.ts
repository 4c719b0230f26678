/**
 * Orders that have taken units of a user's store, or may have, and that are not decided yet. Each has one record, which
 * is written under the lease of a segment before the first unit is taken from that segment.
 *
 * The record decides. One write removes it and records the sale; then the order is sold. A caller that claims the
 * record puts the units back, and the sale has become impossible. A killed process leaves the record to be found. For a
 * caller that holds all segments, every record belongs to an order that no process can be working on any more.
 */
import { LockUnavailableError } from '../contract/errors.js';
import { UNCHANGED } from '../contract/record-store.js';
import type { RecordStore, StoredRecord } from '../contract/record-store.js';
import { parsed, unitsOf } from './deduction.js';
import type { Leftover, OrderRecord } from './deduction.js';
import { idOf } from './stock-names.js';
import type { StockNames } from './stock-names.js';
import type { StockPart } from './stock-plan.js';

export interface OpenOrder extends Leftover {
  readonly version: number;
}

type OpenRecord = Pick<Leftover, 'units' | 'segments'>;

export class OpenOrders {
  readonly #records: RecordStore;
  readonly #names: StockNames;

  constructor(records: RecordStore, names: StockNames) {
    this.#records = records;
    this.#names = names;
  }

  /**
   * Records an order before anything is taken. Returns `undefined` when there already is an order of this id, open or
   * not.
   */
  async begin(orderId: string, units: number, segments: readonly number[]): Promise<OpenOrder | undefined> {
    const record: OpenRecord = { units, segments };
    const write = await this.#records.write([
      { name: this.#names.openOrder(orderId), value: JSON.stringify(record), ifVersion: 'absent' },
      { name: this.#names.order(orderId), value: UNCHANGED, ifVersion: 'absent' },
    ]);
    return write.isApplied ? openOrder(orderId, record, write.records[0]) : undefined;
  }

  /** @returns `false` when another caller has claimed the order: its units are being put back */
  async sell({ orderId, version }: OpenOrder, parts: readonly StockPart[]): Promise<boolean> {
    const sold: OrderRecord = { state: 'sold', parts };
    const write = await this.#records.write([
      { name: this.#names.openOrder(orderId), value: undefined, ifVersion: version },
      { name: this.#names.order(orderId), value: JSON.stringify(sold), ifVersion: 'absent' },
    ]);
    return write.isApplied;
  }

  /**
   * Decides that the units of a sold order are to be put back, and that an order that was not sold never will be.
   * @returns `'open'` when neither is decided yet; `undefined` when there is nothing to put back
   */
  async reopen(orderId: string): Promise<OpenOrder | 'open' | undefined> {
    const sale = await this.find(orderId);
    if (sale?.state === 'refunded') return undefined;
    const parts = sale?.parts ?? [];
    const record: OpenRecord = { units: unitsOf(parts), segments: parts.map(({ segment }) => segment) };
    const name = this.#names.openOrder(orderId);
    const refunded: OrderRecord = { state: 'refunded', parts };
    const write = await this.#records.write([
      { name, value: sale ? JSON.stringify(record) : UNCHANGED, ifVersion: 'absent' },
      { name: this.#names.order(orderId), value: JSON.stringify(refunded), ifVersion: sale?.version ?? 'absent' },
    ]);
    if (write.isApplied) return sale && openOrder(orderId, record, write.records[0]);
    return write.conflict === name ? 'open' : this.reopen(orderId);
  }

  /** Claims the order: only this caller puts its units back. Returns `undefined` when another caller has decided. */
  async claim(open: OpenOrder): Promise<OpenOrder | undefined> {
    const { orderId, units, segments, version } = open;
    const record = { units, segments, isClaimed: true };
    const value = JSON.stringify(record);
    const write = await this.#records.write([{ name: this.#names.openOrder(orderId), value, ifVersion: version }]);
    return write.isApplied ? openOrder(orderId, record, write.records[0]) : undefined;
  }

  /**
   * Removes the record of an order without units to put back. If the record remains, a caller that finds it puts back
   * nothing.
   */
  async drop({ orderId, version }: OpenOrder): Promise<void> {
    const removal = { name: this.#names.openOrder(orderId), value: undefined, ifVersion: version };
    await this.#records.write([removal]).catch((error: unknown) => {
      if (!(error instanceof LockUnavailableError)) throw error;
    });
  }

  async all(): Promise<readonly OpenOrder[]> {
    const ids = (await this.#records.list(this.#names.open)).map(idOf);
    const open = await Promise.all(ids.map((orderId) => this.#read(orderId)));
    return open.filter((one) => one !== undefined);
  }

  /** Returns the record of an order, if it is decided. */
  async find(orderId: string): Promise<(OrderRecord & { readonly version: number }) | undefined> {
    const record = await this.#records.read(this.#names.order(orderId));
    return record && { ...parsed<OrderRecord>(record), version: record.version };
  }

  async #read(orderId: string): Promise<OpenOrder | undefined> {
    const record = await this.#records.read(this.#names.openOrder(orderId));
    return record && openOrder(orderId, parsed<OpenRecord>(record), record);
  }
}

function openOrder(orderId: string, { units, segments }: OpenRecord, record: StoredRecord | undefined): OpenOrder {
  const { version = 0, writtenAt: since = new Date() } = record ?? {};
  return { orderId, units, segments, since, version };
}
