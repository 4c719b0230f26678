import { LockConfigurationError } from '../contract/errors.js';
import type { RecordStore, StoredRecord } from '../contract/record-store.js';
import { parsed } from './deduction.js';
import type { Delivery } from './stock-keeper.js';
import type { StockNames } from './stock-names.js';
import { splitStock } from './stock-plan.js';

/** The record of a delivery to a user's store: its units, and the number of segments over which they are spread. */
interface DeliveryRecord {
  readonly units: number;
  readonly segments: number;
}

/**
 * The deliveries to a user's store. The store distinguishes them by their id and segment. So a repeated call must add
 * the same units to the same segments, also when the number of segments has changed. The record says which.
 */
export class Deliveries {
  readonly #records: RecordStore;
  readonly #names: StockNames;

  constructor(records: RecordStore, names: StockNames) {
    this.#records = records;
    this.#names = names;
  }

  /**
   * Records a delivery before anything is added. Returns the units for each segment: as they were recorded first, when
   * there already is a delivery of this id.
   * @throws LockConfigurationError when the id was used for another delivery
   */
  async begin(restockId: string, units: number, segments: number): Promise<readonly number[]> {
    const name = this.#names.restock(restockId);
    const delivery: DeliveryRecord = { units, segments };
    const write = await this.#records.write([{ name, value: JSON.stringify(delivery), ifVersion: 'absent' }]);
    if (write.isApplied) return splitStock(units, segments);
    const record = await this.#records.read(name);
    // A delivery that was forgotten in between counts as new.
    if (!record) return this.begin(restockId, units, segments);
    const before = parsed<DeliveryRecord | number>(record);
    if (typeof before === 'number') throw usedUp(restockId, 'was added to the built-in stock');
    checkSame(restockId, units, before.units);
    return splitStock(before.units, before.segments);
  }
}

/** @throws LockConfigurationError when the record is not that of this delivery to the built-in stock */
export function checkDelivered({ restockId, units }: Delivery, record: StoredRecord): void {
  const before = parsed<DeliveryRecord | number>(record);
  if (typeof before !== 'number') throw usedUp(restockId, 'was added to a store of your own');
  checkSame(restockId, units, before);
}

function checkSame(restockId: string, units: number, before: number): void {
  if (before !== units) throw usedUp(restockId, `was of ${before} units, not ${units}`);
}

function usedUp(restockId: string, why: string): LockConfigurationError {
  return new LockConfigurationError(`the delivery "${restockId}" ${why}; a restockId names one delivery`);
}
