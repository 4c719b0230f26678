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

/** What every call of a store is told. */
export interface SegmentRequest {
  /** The key of the stock. */
  readonly key: string;
  /** The segment's number, from 0 on. Its lease is held while the call runs. */
  readonly segment: number;
  /** Of that lease. A call with a smaller token than the segment has seen comes from somebody who lost it: refuse it. */
  readonly fencingToken: bigint;
  /** Aborts when the lease is lost. */
  readonly signal: AbortSignal;
}

export interface TakeRequest extends SegmentRequest {
  /** Whose units they are; with the segment, what `putBack` finds them by. */
  readonly orderId: string;
  /** The most to take, 1 or more. */
  readonly want: number;
  /** Take this many or more, or nothing at all. Equal to `want` unless the order is being split. */
  readonly atLeast: number;
}

export interface PutBackRequest extends SegmentRequest {
  readonly orderId: string;
}

export interface AddRequest extends SegmentRequest {
  readonly units: number;
  /** With the segment, what tells a repeated call from a new one. */
  readonly restockId: string;
}

/**
 * A stock of your own, say a table with one row a segment. Everything that is said of a call happens or nothing does,
 * and every call with a smaller fencing token than the segment has seen throws: then no unit is sold twice by a process
 * that was paused, and none is lost by one that was killed.
 */
export interface SegmentStore {
  /**
   * Takes units if there are enough, and remembers for this order and segment how many.
   * @returns how many: 0, or `atLeast` to `want`
   */
  take(request: TakeRequest): Promise<number>;
  /**
   * Gives back what this order has taken from this segment and not yet been given back; nothing, when that is nothing.
   * @returns how many units that were
   */
  putBack(request: PutBackRequest): Promise<number>;
  /** Adds units, once a `restockId`. Without it, `restock` is refused and you restock by yourself. */
  add?(request: AddRequest): Promise<void>;
  /** How many units are in the segment; asked without its lease. Without it, `available` is refused. */
  available?(segment: number): Promise<number>;
}
