import type { RecordStore } from '../contract/record-store.js';
import { parsed } from './deduction.js';
import type { StockNames } from './stock-names.js';
import { splitStock } from './stock-plan.js';

/** The record of a delivery: its units, and the number of segments over which they are spread. */
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
   */
  async begin(restockId: string, units: number, segments: number): Promise<readonly number[]> {
    const name = this.#names.restock(restockId);
    const delivery: DeliveryRecord = { units, segments };
    const write = await this.#records.write([{ name, value: JSON.stringify(delivery), ifVersion: 'absent' }]);
    if (write.isApplied) return splitStock(units, segments);
    const record = await this.#records.read(name);
    // A delivery that was forgotten in between counts as new.
    if (!record) return this.begin(restockId, units, segments);
    const before = parsed<DeliveryRecord>(record);
    return splitStock(before.units, before.segments);
  }
}
