/**
 * Orders that have taken units of a user's store, or may have, and are not sold. Each has one record until all units
 * are back. A deduction writes it under the lease of a segment, before the first unit is taken from that segment. A
 * refund writes it without a lease, together with the decision and before the first unit is put back.
 *
 * The record of a deduction decides. One write removes it and records the sale; then the order is sold. A caller that
 * claims the record puts the units back, and the sale has become impossible. A killed process leaves the record to be
 * found. While a caller holds all segments, no other takes units of these orders or puts them back.
 *
 * An order may be begun again after its record was removed, and versions then start again. So each record names an
 * attempt, which has a record under a name that never recurs. The two are created and removed together. A write that
 * arrives late does not find its attempt, and is not applied to a later one.
 */
import { randomUUID } from 'node:crypto';
import { LockConfigurationError, LockUnavailableError } from '../contract/errors.js';
import { UNCHANGED } from '../contract/record-store.js';
import type { RecordChange, RecordStore, StoredRecord } from '../contract/record-store.js';
import { parsed, unitsOf } from './deduction.js';
import type { Leftover, OrderRecord } from './deduction.js';
import { idOf, mustHave } from './stock-names.js';
import type { StockNames } from './stock-names.js';
import type { StockPart } from './stock-plan.js';

export interface OpenOrder extends Leftover {
  readonly version: number;
  /** The name that this attempt shares with no other. */
  readonly attempt: string;
}

/** An open order as it was found. */
interface FoundOrder extends Omit<OpenOrder, 'attempt'> {
  /** `undefined` in the record of a former version. */
  readonly attempt: string | undefined;
}

type OpenRecord = Pick<OpenOrder, 'units' | 'segments' | 'attempt'>;

/** Whether a segment exists by now. */
type Exists = (segment: number) => boolean;

interface DecidedOrder extends OrderRecord {
  readonly version: number;
}

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
    const undecided: RecordChange = { name: this.#names.order(orderId), value: UNCHANGED, ifVersion: 'absent' };
    return this.#open(orderId, { units, segments, attempt: randomUUID() }, undecided);
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
   * Decides that the units of a sold order are to be put back, and that an order that was not sold never will be.
   *
   * An order that was refunded before is opened again. A transaction that had put its units back may have been rolled
   * back.
   * @returns `'open'` when neither is decided yet; `undefined` when there is nothing to put back
   * @throws LockConfigurationError when a segment of a sold order was removed; then nothing is decided
   */
  async reopen(orderId: string, exists: Exists): Promise<OpenOrder | 'open' | undefined> {
    const sale = await this.find(orderId);
    if (sale?.state === 'refunded') return this.#openAgain(orderId, sale, exists);
    const parts = sale?.parts ?? [];
    const segments = parts.map(({ segment }) => segment);
    mustHave(this.#names.key, orderId, segments, exists);
    const record: OpenRecord = { units: unitsOf(parts), segments, attempt: randomUUID() };
    const name = this.#names.openOrder(orderId);
    const refunded: OrderRecord = { state: 'refunded', parts };
    const write = await this.#records.write([
      { name, value: sale ? JSON.stringify(record) : UNCHANGED, ifVersion: 'absent' },
      { name: this.#names.order(orderId), value: JSON.stringify(refunded), ifVersion: sale?.version ?? 'absent' },
      ...(sale ? [this.#newAttempt(record, orderId)] : []),
    ]);
    if (write.isApplied) return sale && openOrder(orderId, record, write.records[0]);
    return write.conflict === name ? 'open' : this.reopen(orderId, exists);
  }

  /**
   * Claims the order: only this caller puts its units back. Returns `undefined` when another caller has decided.
   * @throws LockConfigurationError when a former version has left the order open
   */
  async claim(found: FoundOrder): Promise<OpenOrder | undefined> {
    const open = ofThisVersion(found);
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

  async all(): Promise<readonly FoundOrder[]> {
    const ids = (await this.#records.list(this.#names.open)).map(idOf);
    const open = await Promise.all(ids.map((orderId) => this.#read(orderId)));
    return open.filter((one) => one !== undefined);
  }

  /** Returns the record of an order, if it is decided. */
  async find(orderId: string): Promise<DecidedOrder | undefined> {
    const record = await this.#records.read(this.#names.order(orderId));
    return record && { ...parsed<OrderRecord>(record), version: record.version };
  }

  /** Records an open order if it is not open, together with the change of the record of its decision. */
  async #open(orderId: string, record: OpenRecord, decision: RecordChange): Promise<OpenOrder | undefined> {
    const write = await this.#records.write([
      { name: this.#names.openOrder(orderId), value: JSON.stringify(record), ifVersion: 'absent' },
      this.#newAttempt(record, orderId),
      decision,
    ]);
    return write.isApplied ? openOrder(orderId, record, write.records[0]) : undefined;
  }

  /** Opens a refunded order for its segments that exist, or finds it open. */
  async #openAgain(orderId: string, sale: DecidedOrder, exists: Exists): Promise<OpenOrder | 'open' | undefined> {
    const found = await this.#read(orderId);
    // If the decision were forgotten now, the units of a new order of this id could be put back. So it is made young.
    const refunded: OrderRecord = { state: 'refunded', parts: sale.parts };
    const decision = { name: this.#names.order(orderId), value: JSON.stringify(refunded), ifVersion: sale.version };
    if (found) {
      const open = ofThisVersion(found);
      const write = await this.#records.write([decision]);
      return write.isApplied ? open : this.reopen(orderId, exists);
    }
    const parts = sale.parts.filter(({ segment }) => exists(segment));
    if (parts.length === 0) return undefined;
    const segments = parts.map(({ segment }) => segment);
    const record: OpenRecord = { units: unitsOf(parts), segments, attempt: randomUUID() };
    return (await this.#open(orderId, record, decision)) ?? this.reopen(orderId, exists);
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

  async #read(orderId: string): Promise<FoundOrder | undefined> {
    const record = await this.#records.read(this.#names.openOrder(orderId));
    return record && openOrder(orderId, parsed<Omit<FoundOrder, 'version'>>(record), record);
  }
}

function openOrder<A extends string | undefined>(
  orderId: string,
  { units, segments, attempt }: Omit<OpenRecord, 'attempt'> & { readonly attempt: A },
  record: StoredRecord | undefined,
) {
  const { version = 0, writtenAt: since = new Date() } = record ?? {};
  return { orderId, units, segments, attempt, since, version };
}

function ofThisVersion({ attempt, ...found }: FoundOrder): OpenOrder {
  if (attempt !== undefined) return { ...found, attempt };
  const text = `the order "${found.orderId}" was left open by a former version of this package: stop all sales`;
  throw new LockConfigurationError(`${text} and call recover() with that version, until leftovers() is empty`);
}
