import type { Deduction, Leftover } from './deduction.js';

/** One order, checked. */
export interface Order {
  readonly orderId: string;
  /** Whether the caller chose the id, and may have used it before. */
  readonly isNamed: boolean;
  readonly quantity: number;
  readonly split: boolean;
  readonly routeBy: string | number | undefined;
  /** The caller gives up, or their time is over. */
  readonly signal: AbortSignal;
}

export interface Delivery {
  readonly restockId: string;
  readonly units: number;
  /** Into how many segments they are spread. */
  readonly segments: number;
  readonly signal: AbortSignal;
}

/** Where the units of a stock are kept. */
export interface StockKeeper {
  deduct(order: Order): Promise<Deduction | null>;
  /** @returns whether this call gave anything back */
  refund(orderId: string, signal: AbortSignal): Promise<boolean>;
  restock(delivery: Delivery): Promise<void>;
  available(signal: AbortSignal): Promise<number>;
  leftovers(): Promise<readonly Leftover[]>;
  /** @returns how many units were put back */
  recover(signal: AbortSignal): Promise<number>;
}
