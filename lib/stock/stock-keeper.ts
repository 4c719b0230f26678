import type { Deduction, Leftover } from './deduction.js';

/** An order whose options are checked. */
export interface Order {
  readonly orderId: string;
  /** Whether the caller chose the id, and may have used it before. */
  readonly isNamed: boolean;
  readonly quantity: number;
  readonly split: boolean;
  readonly routeBy: string | number | undefined;
  /** Aborts when the caller gives up, or its deadline passes. */
  readonly signal: AbortSignal;
}

export interface Delivery {
  readonly restockId: string;
  readonly units: number;
  /** The number of segments over which the units are spread. */
  readonly segments: number;
  readonly signal: AbortSignal;
}

/** The place where the units of a stock are kept. */
export interface StockKeeper {
  deduct(order: Order): Promise<Deduction | null>;
  /** @returns whether this call put anything back */
  refund(orderId: string, signal: AbortSignal): Promise<boolean>;
  restock(delivery: Delivery): Promise<void>;
  available(signal: AbortSignal): Promise<number>;
  leftovers(): Promise<readonly Leftover[]>;
  /** @returns the number of units that were put back */
  recover(signal: AbortSignal): Promise<number>;
}

/** The fields of every request to a store. */
export interface SegmentRequest {
  /** The key of the stock. */
  readonly key: string;
  /** The segment's number, from 0 on. Its lease is held while the call runs. */
  readonly segment: number;
  /**
   * The fencing token of that lease. A smaller token than the segment has seen comes from a process that has lost the
   * lease: refuse the call.
   */
  readonly fencingToken: bigint;
  /** Aborts when the lease is lost. */
  readonly signal: AbortSignal;
}

/** A request to take units from a segment. */
export interface TakeRequest extends SegmentRequest {
  /** The order that takes the units. With the segment, it is the key by which `putBack` finds them. */
  readonly orderId: string;
  /** The most to take, 1 or more. */
  readonly want: number;
  /** The fewest to take; otherwise take nothing at all. Equal to `want` unless the order is being split. */
  readonly atLeast: number;
}

/** A request to put back what an order took from a segment. */
export interface PutBackRequest extends SegmentRequest {
  /** The order whose units are put back. */
  readonly orderId: string;
}

/** A request to add units to a segment. */
export interface AddRequest extends SegmentRequest {
  /** The number of units to add. */
  readonly units: number;
  /** The id of the delivery. With the segment, it distinguishes a repeated call from a new one. */
  readonly restockId: string;
}

/**
 * A stock of your own, such as a table with one row per segment. Each call has its whole effect or none. Every call
 * with a smaller fencing token than the segment has seen throws. Then no unit is sold twice by a process that was
 * paused, and none is lost by a process that was killed.
 */
export interface SegmentStore {
  /**
   * Takes units if there are enough, and remembers their number for this order and segment.
   * @returns the number of units: 0, or `atLeast` to `want`
   */
  take(request: TakeRequest): Promise<number>;
  /**
   * Puts back the units that this order has taken from this segment and that were not put back before. Does nothing if
   * there are none.
   * @returns the number of these units
   */
  putBack(request: PutBackRequest): Promise<number>;
  /** Adds units, once per `restockId`. Without this method, `restock` is refused and you restock by yourself. */
  add?(request: AddRequest): Promise<void>;
  /**
   * Returns the number of units in the segment. Called without its lease. Without this method, `available` is refused.
   */
  available?(segment: number): Promise<number>;
}
