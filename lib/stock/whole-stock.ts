import { LockLostError, LockUnavailableError } from '../contract/errors.js';
import type { SegmentLease } from '../contract/segment-lease.js';
import { soldBefore } from './deduction.js';
import type { Deduction } from './deduction.js';
import { DryHints } from './dry-hints.js';
import type { Order } from './stock-keeper.js';
import { recoverOrders, takeOrder } from './take-order.js';
import type { StoreTools } from './take-order.js';

/** A stock of which every segment is held: nobody else takes from it, and what is learned of it stays so. */
export class WholeStock {
  readonly #leases: readonly SegmentLease[];
  readonly #dry = new DryHints(Infinity);
  /** Why not everything could be put back that belongs to nobody. */
  #failure: { readonly error: unknown } | undefined;
  /** All units that there are; not known before an order could not be had. */
  #left = Infinity;

  private constructor(leases: readonly SegmentLease[]) {
    this.#leases = leases;
  }

  /** Puts back what killed processes have left. */
  static async open(tools: StoreTools, leases: readonly SegmentLease[]): Promise<WholeStock> {
    const stock = new WholeStock(leases);
    await recoverOrders(tools, leases, stock.#dry).catch((error: unknown) => (stock.#failure = { error }));
    return stock;
  }

  get isHeld(): boolean {
    return this.#leases.every((lease) => lease.isHeld());
  }

  /** @returns `null`: sold out. @throws what the store throws, also when units could not be put back that it may need */
  async serve(order: Order, tools: StoreTools): Promise<Deduction | null> {
    if (order.quantity > this.#left) return this.#soldOut(order, tools);
    const attempt = await takeOrder(tools, order, this.#leases, this.#dry);
    switch (attempt.outcome) {
      case 'sold':
        this.#left -= order.quantity;
        return attempt.sold;
      case 'dry':
        if (order.split) this.#left = attempt.found;
        return this.#soldOut(order, tools);
      case 'contested':
        return (await this.#soldBefore(order, tools)) ?? this.#undecided(order);
      default:
        throw new LockLostError(tools.key, `while "${order.orderId}" was served; it was not sold`);
    }
  }

  async #soldOut(order: Order, tools: StoreTools): Promise<Deduction | null> {
    const sold = order.isNamed ? await this.#soldBefore(order, tools) : undefined;
    if (sold) return sold;
    if (this.#failure) throw this.#failure.error;
    return null;
  }

  async #soldBefore({ orderId, quantity }: Order, { open }: StoreTools): Promise<Deduction | undefined> {
    const record = await open.find(orderId);
    return record && soldBefore(orderId, quantity, record);
  }

  #undecided({ orderId }: Order): never {
    if (this.#failure) throw this.#failure.error;
    throw new LockUnavailableError(`the order "${orderId}" is at work elsewhere`);
  }
}
