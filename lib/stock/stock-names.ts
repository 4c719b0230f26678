import { LockConfigurationError } from '../contract/errors.js';
import { escapedSegment } from '../contract/key.js';

/**
 * The names of the records of one stock. Each key and each id is one segment of a name, so that none can lead to the
 * records of another.
 */
export class StockNames {
  readonly head: string;

  /** @param key the key as the application wrote it */
  constructor(readonly key: string) {
    this.head = `stock/${escapedSegment(key)}`;
  }

  segment(segment: number): string {
    return `${this.head}/${String(segment).padStart(4, '0')}`;
  }

  get orders(): string {
    return `${this.head}/orders`;
  }

  order(orderId: string): string {
    return `${this.orders}/${escapedSegment(orderId)}`;
  }

  /** The parent of the orders at work; see `OpenOrders`. */
  get open(): string {
    return `${this.head}/open`;
  }

  openOrder(orderId: string): string {
    return `${this.open}/${escapedSegment(orderId)}`;
  }

  /** The record of one attempt at an order; see `OpenOrders`. */
  attempt(attempt: string): string {
    return `${this.head}/attempts/${attempt}`;
  }

  get restocks(): string {
    return `${this.head}/restocks`;
  }

  restock(restockId: string): string {
    return `${this.restocks}/${escapedSegment(restockId)}`;
  }
}

/** Returns the id that the last segment of a name encodes. */
export function idOf(segment: string): string {
  return decodeURIComponent(segment);
}

/** @throws LockConfigurationError unless all segments of an order or a delivery still exist */
export function mustHave(
  key: string,
  id: string,
  segments: readonly number[],
  exists: (segment: number) => boolean,
): void {
  const removed = segments.filter((segment) => !exists(segment));
  if (removed.length === 0) return;
  const [last, fewest] = [Math.max(...removed), Math.max(...removed) + 1];
  const text = `"${key}" has no segment ${last} any more to put units of "${id}" into: resize it to ${fewest} segments`;
  throw new LockConfigurationError(`${text} or more, and repeat the call`, { key });
}
