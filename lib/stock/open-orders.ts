/**
 * Orders that have taken units of a user's store, or may have, and that are not decided yet. Each has one record, which
 * is written under the lease of a segment before the first unit is taken from that segment.
 *
 * The record decides. One write removes it and records the sale; then the order is sold. A caller that claims the
 * record puts the units back, and the sale has become impossible. A killed process leaves the record to be found. For a
 * caller that holds all segments, every record belongs to an order that no process can be working on any more.
 *
 * An order may be begun again after its record was removed, and versions then start again. So each record names an
 * attempt, which has a record under a name that never recurs. The two are created and removed together. A write that
 * arrives late does not find its attempt, and is not applied to a later one.
 */
import { randomUUID } from 'node:crypto';
import { LockUnavailableError } from '../contract/errors.js';
import { UNCHANGED } from '../contract/record-store.js';
import type { RecordChange, RecordStore, StoredRecord } from '../contract/record-store.js';
import { parsed, unitsOf } from './deduction.js';
import type { Leftover, OrderRecord } from './deduction.js';
import { idOf } from './stock-names.js';
import type { StockNames } from './stock-names.js';
import type { StockPart } from './stock-plan.js';

export interface OpenOrder extends Leftover {
  readonly version: number;
  /** The name that this attempt shares with no other. */
  readonly attempt: string;
}

type OpenRecord = Pick<OpenOrder, 'units' | 'segments' | 'attempt'>;

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
    const record: OpenRecord = { units, segments, attempt: randomUUID() };
    const write = await this.#records.write([
      { name: this.#names.openOrder(orderId), value: JSON.stringify(record), ifVersion: 'absent' },
      this.#newAttempt(record, orderId),
      { name: this.#names.order(orderId), value: UNCHANGED, ifVersion: 'absent' },
    ]);
    return write.isApplied ? openOrder(orderId, record, write.records[0]) : undefined;
  }

  /** @returns `false` when another caller has claimed the order: its units are being put back */
  async sell(open: OpenOrder, parts: readonly StockPart[]): Promise<boolean> {
    const sold: OrderRecord = { state: 'sold', parts };
    const write = await this.#records.write([
      ...this.#removalOf(open),
      { name: this.#names.order(open.orderId), value: JSON.stringify(sold), ifVersion: 'absent' },
    ]);
    return write.isApplied;
  }

  /**
   * Decides that the units of a sold order are to be put back, and that an order that was not sold never will be. An
   * order that was decided before is returned until all of its units are back.
   * @param check throws when units cannot be put back into these segments; then nothing is decided
   * @returns `'open'` when neither is decided yet; `undefined` when there is nothing to put back
   */
  async reopen(orderId: string, check: (segments: readonly number[]) => void): Promise<OpenOrder | 'open' | undefined> {
    const sale = await this.find(orderId);
    if (sale?.state === 'refunded') return this.#read(orderId);
    const parts = sale?.parts ?? [];
    const segments = parts.map(({ segment }) => segment);
    check(segments);
    const record: OpenRecord = { units: unitsOf(parts), segments, attempt: randomUUID() };
    const name = this.#names.openOrder(orderId);
    const refunded: OrderRecord = { state: 'refunded', parts };
    const write = await this.#records.write([
      { name, value: sale ? JSON.stringify(record) : UNCHANGED, ifVersion: 'absent' },
      { name: this.#names.order(orderId), value: JSON.stringify(refunded), ifVersion: sale?.version ?? 'absent' },
      ...(sale ? [this.#newAttempt(record, orderId)] : []),
    ]);
    if (write.isApplied) return sale && openOrder(orderId, record, write.records[0]);
    return write.conflict === name ? 'open' : this.reopen(orderId, check);
  }

  /** Claims the order: only this caller puts its units back. Returns `undefined` when another caller has decided. */
  async claim(open: OpenOrder): Promise<OpenOrder | undefined> {
    const { orderId, units, segments, version } = open;
    const record: OpenRecord = { units, segments, attempt: randomUUID() };
    const write = await this.#records.write([
      { name: this.#names.openOrder(orderId), value: JSON.stringify(record), ifVersion: version },
      this.#endOf(open),
      this.#newAttempt(record, orderId),
    ]);
    return write.isApplied ? openOrder(orderId, record, write.records[0]) : undefined;
  }

  /**
   * Removes the record of an order without units to put back. If the record remains, a caller that finds it puts back
   * nothing.
   */
  async drop(open: OpenOrder): Promise<void> {
    await this.#records.write(this.#removalOf(open)).catch((error: unknown) => {
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

  #removalOf(open: OpenOrder): RecordChange[] {
    return [
      { name: this.#names.openOrder(open.orderId), value: undefined, ifVersion: open.version },
      this.#endOf(open),
    ];
  }

  #newAttempt({ attempt }: OpenRecord, orderId: string): RecordChange {
    return { name: this.#names.attempt(attempt), value: orderId, ifVersion: 'absent' };
  }

  #endOf({ attempt }: OpenOrder): RecordChange {
    return { name: this.#names.attempt(attempt), value: undefined, ifVersion: 0 };
  }

  async #read(orderId: string): Promise<OpenOrder | undefined> {
    const record = await this.#records.read(this.#names.openOrder(orderId));
    return record && openOrder(orderId, parsed<OpenRecord>(record), record);
  }
}

function openOrder(orderId: string, open: OpenRecord, record: StoredRecord | undefined): OpenOrder {
  const { version = 0, writtenAt: since = new Date() } = record ?? {};
  const { units, segments, attempt } = open;
  return { orderId, units, segments, attempt, since, version };
}
