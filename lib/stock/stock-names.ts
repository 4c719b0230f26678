import { escapedSegment } from '../contract/key.js';

/** Where the records of one stock are. Keys and ids are one segment of a name each: none can lead into another's. */
export class StockNames {
  readonly head: string;

  constructor(key: string) {
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

  /** Orders at work, see `OpenOrders`. */
  get open(): string {
    return `${this.head}/open`;
  }

  openOrder(orderId: string): string {
    return `${this.open}/${escapedSegment(orderId)}`;
  }

  get restocks(): string {
    return `${this.head}/restocks`;
  }

  restock(restockId: string): string {
    return `${this.restocks}/${escapedSegment(restockId)}`;
  }
}

/** The id behind the last segment of a name. */
export function idOf(segment: string): string {
  return decodeURIComponent(segment);
}
