import { channels } from '../contract/channels.js';
import type { EventOrigin, StockEvent } from '../contract/channels.js';

/** The events of one stock in this process. */
export class StockEvents {
  readonly #key: string;
  readonly #origin: EventOrigin;

  constructor(key: string, origin: EventOrigin) {
    this.#key = key;
    this.#origin = origin;
  }

  publish(result: StockEvent['result'], units = 0, parts = 0, tries = 0): void {
    if (!channels.stock.hasSubscribers) return;
    const { connection } = this.#origin;
    channels.stock.publish({ connection, origin: this.#origin, result, key: this.#key, units, parts, tries });
  }
}
