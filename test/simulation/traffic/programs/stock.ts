import type { SegmentedStock } from '../../../../lib/stock/segmented-stock.js';
import { sharedNow } from '../../../robustness/clock.js';
import { actUntilFinished, passSome } from '../desk.js';
import type { Desk } from '../desk.js';

type Deed = 'deduct' | 'again' | 'refund' | 'cancelled' | 'restock' | 'available';

const KEY = 'mug';
const SEGMENTS = 4;
const FIRST_DELIVERY = 60;
/** The interval between two orders that other applications may refund. */
const OPEN_ORDER_MS = 1_000;
/** The number of applications whose orders all others know. */
const KNOWN_APPS = 4;

interface Order {
  readonly orderId: string;
  readonly units: number;
}

/**
 * Buyers of units that are never enough: orders that are repeated until their outcome is known, and refunds. Some
 * orders are placed by one application and refunded by another one, which need not know of the sale.
 */
export async function stock(desk: Desk): Promise<void> {
  const buyer = new Buyer(desk);
  // All processes deliver the same, and it counts once.
  await buyer.restock(FIRST_DELIVERY, 'first');
  await actUntilFinished(desk, () => buyer.act());
  await buyer.available();
}

class Buyer {
  readonly #desk: Desk;
  readonly #stock: SegmentedStock;
  readonly #orders: Order[] = [];
  #count = 0;

  constructor(desk: Desk) {
    this.#desk = desk;
    this.#stock = desk.locks.stock(KEY, { segments: SEGMENTS });
  }

  async act(): Promise<void> {
    const { random } = this.#desk;
    const deed = random.weighted<Deed>({ deduct: 10, again: 1, refund: 3, cancelled: 3, restock: 1, available: 0.5 });
    if (deed === 'restock') return this.restock(random.int(5, 15), this.#newName());
    if (deed === 'available') return this.available();
    if (deed === 'cancelled') return this.#cancelled();
    if (deed === 'deduct' || this.#orders.length === 0)
      return this.#deduct({ orderId: this.#newName(), units: random.int(1, 3) });
    const order = random.pick(this.#orders);
    return deed === 'again' ? this.#deduct(order) : this.#refund(order);
  }

  /**
   * An order that only this application places, or the refund of another application's order, which may not have been
   * placed yet.
   */
  async #cancelled(): Promise<void> {
    const { random, process } = this.#desk;
    const own = Number(/\d+/.exec(process)?.[0]);
    const app = random.int(1, KNOWN_APPS);
    return app === own || random.chance(0.3)
      ? this.#deduct(openOrder(own, 0))
      : this.#refund(openOrder(app, random.int(0, 2)));
  }

  async restock(units: number, restockId: string): Promise<void> {
    await this.#untilKnown(() =>
      this.#desk.calls.make({ on: 'stock', key: KEY, ask: 'restock', units, restockId }, () =>
        this.#stock.restock(units, { restockId, ...this.#wait() }),
      ),
    );
  }

  async available(): Promise<void> {
    await this.#desk.calls.make(
      { on: 'stock', key: KEY, ask: 'available' },
      () => this.#stock.available(this.#wait()),
      {
        answerOf: (value) => ({ value }),
      },
    );
  }

  async #deduct(order: Order): Promise<void> {
    if (!this.#orders.includes(order)) this.#orders.push(order);
    const { orderId, units } = order;
    await this.#untilKnown(() =>
      this.#desk.calls.make(
        { on: 'stock', key: KEY, ask: 'deduct', units, orderId },
        () => this.#stock.deduct(units, { orderId, ...this.#wait() }),
        { answerOf: (sale) => ({ value: sale.units }) },
      ),
    );
  }

  async #refund({ orderId }: Order): Promise<void> {
    await this.#untilKnown(() =>
      this.#desk.calls.make(
        { on: 'stock', key: KEY, ask: 'refund', orderId },
        () => this.#stock.refund(orderId, this.#wait()),
        {
          answerOf: (value) => ({ value }),
        },
      ),
    );
  }

  /** Repeats a call whose outcome is unknown. Gives up only when the process is to finish. */
  async #untilKnown(make: () => Promise<{ readonly outcome: string }>): Promise<void> {
    while ((await make()).outcome === 'unknown' && !this.#desk.finishing.aborted) {
      await passSome(this.#desk, this.#desk.orders.pauseMs);
    }
  }

  #wait(): { readonly waitMs: number } {
    return { waitMs: Math.max(...this.#desk.orders.waitsMs) };
  }

  #newName(): string {
    return `${this.#desk.name}/${++this.#count}`;
  }
}

/** The order of an application at a time, which all applications can compute. */
function openOrder(app: number, secondsAgo: number): Order {
  const orderId = `app-${app}/${Math.floor(sharedNow() / OPEN_ORDER_MS) - secondsAgo}`;
  return { orderId, units: 2 };
}
