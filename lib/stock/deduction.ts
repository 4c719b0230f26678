import { LockConfigurationError } from '../contract/errors.js';
import type { StoredRecord } from '../contract/record-store.js';
import type { StockPart } from './stock-plan.js';

/** Units that were sold. */
export interface Deduction {
  /** The id by which `refund` and a repeated `deduct` find the order. */
  readonly orderId: string;
  /** The number of units that were sold. */
  readonly units: number;
  /** The units by segment. */
  readonly parts: readonly StockPart[];
}

/** The record of an order. A refunded order is never sold again: its id was used. */
export interface OrderRecord {
  readonly state: 'sold' | 'refunded';
  readonly parts: readonly StockPart[];
}

/**
 * An order that is neither sold nor put back entirely. It is at work, or a call ended in between. After a repeated
 * refund that failed, all units may be back already.
 */
export interface Leftover {
  /** The id of the order. */
  readonly orderId: string;
  /** The number of units that the order wanted. The store knows how many it has taken. */
  readonly units: number;
  /** The segments that the order may have taken from. */
  readonly segments: readonly number[];
  /** The time at which work on the order began, on the backend's clock. */
  readonly since: Date;
}

export function deductionOf(orderId: string, parts: readonly StockPart[]): Deduction {
  return { orderId, units: unitsOf(parts), parts };
}

export function unitsOf(parts: readonly StockPart[]): number {
  return parts.reduce((sum, { units }) => sum + units, 0);
}

/** @throws LockConfigurationError when this package did not write the record */
export function parsed<T>({ name, value }: StoredRecord): T {
  try {
    return JSON.parse(value) as T;
  } catch (cause) {
    throw new LockConfigurationError(`the record "${name}" was not written by this package`, { cause });
  }
}

/**
 * Returns the sale of an order that was made before.
 * @throws LockConfigurationError when it was refunded, or was of another quantity: an id names one order
 */
export function soldBefore(orderId: string, quantity: number, { state, parts }: OrderRecord): Deduction {
  if (state === 'refunded') throw usedUp(orderId, 'was refunded');
  const sold = deductionOf(orderId, parts);
  if (sold.units !== quantity) throw usedUp(orderId, `was of ${sold.units} units, not ${quantity}`);
  return sold;
}

function usedUp(orderId: string, why: string): LockConfigurationError {
  return new LockConfigurationError(`the order "${orderId}" ${why}; an orderId names one order`);
}
