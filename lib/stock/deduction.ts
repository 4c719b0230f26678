import { LockConfigurationError } from '../contract/errors.js';
import type { StoredRecord } from '../contract/record-store.js';
import type { StockPart } from './stock-plan.js';

/** Units that were sold. */
export interface Deduction {
  /** What `refund` and a repeated `deduct` know the order by. */
  readonly orderId: string;
  readonly units: number;
  readonly parts: readonly StockPart[];
}

/** What is remembered of an order. A refunded one is never sold again: its id was used. */
export interface OrderRecord {
  readonly state: 'sold' | 'refunded';
  readonly parts: readonly StockPart[];
}

/** Units of which it is not decided yet whose they are: of an order at work, or of one whose process ended in between. */
export interface Leftover {
  readonly orderId: string;
  /** How many the order wanted. What it has, the store knows. */
  readonly units: number;
  /** The segments that it may have taken from. */
  readonly segments: readonly number[];
  /** When it took up work, on the backend's clock. */
  readonly since: Date;
}

export function deductionOf(orderId: string, parts: readonly StockPart[]): Deduction {
  return { orderId, units: unitsOf(parts), parts };
}

export function unitsOf(parts: readonly StockPart[]): number {
  return parts.reduce((sum, { units }) => sum + units, 0);
}

/** @throws LockConfigurationError when somebody else has written the record */
export function parsed<T>({ name, value }: StoredRecord): T {
  try {
    return JSON.parse(value) as T;
  } catch (cause) {
    throw new LockConfigurationError(`the record "${name}" was not written by this package`, { cause });
  }
}

/**
 * The sale of an order that was made before.
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
