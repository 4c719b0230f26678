/** Where the records of one stock are. Keys and ids are one segment of a name each: none can lead into another's. */
export class StockNames {
  readonly head: string;

  constructor(key: string) {
    this.head = `stock/${asSegment(key)}`;
  }

  segment(segment: number): string {
    return `${this.head}/${String(segment).padStart(4, '0')}`;
  }

  get orders(): string {
    return `${this.head}/orders`;
  }

  order(orderId: string): string {
    return `${this.orders}/${asSegment(orderId)}`;
  }

  /** Orders at work, see `OpenOrders`. */
  get open(): string {
    return `${this.head}/open`;
  }

  openOrder(orderId: string): string {
    return `${this.open}/${asSegment(orderId)}`;
  }

  get restocks(): string {
    return `${this.head}/restocks`;
  }

  restock(restockId: string): string {
    return `${this.restocks}/${asSegment(restockId)}`;
  }
}

/** The id behind the last segment of a name. */
export function idOf(segment: string): string {
  return decodeURIComponent(segment);
}

function asSegment(text: string): string {
  // "." and ".." name no record.
  return /^\.{1,2}$/.test(text) ? text.replaceAll('.', '%2E') : text.replace(/[%/]/g, encodeURIComponent);
}
