import { hash, upTo } from '../composite/segment-route.js';
import type { SegmentedLock } from '../composite/segmented-lock.js';
import { LockConfigurationError } from '../contract/errors.js';
import { MOST_SEGMENTS } from '../contract/segment.options.js';
import type { SegmentLease } from '../contract/segment.options.js';
import { soldBefore } from './deduction.js';
import type { Deduction, Leftover } from './deduction.js';
import type { Deliveries } from './deliveries.js';
import { DryHints } from './dry-hints.js';
import type { OpenOrder } from './open-orders.js';
import type { Delivery, Order, StockKeeper } from './stock-keeper.js';
import { probingOrder } from './stock-plan.js';
import { mustHave, placeOf, putBackInto, recoverOrders, takeOrder } from './take-order.js';
import type { Attempt, StoreTools } from './take-order.js';
import { WholeRounds } from './whole-rounds.js';

/**
 * A stock in a store of the user's, each segment under its lease. An order tries one segment after another for one that
 * has all of its units. If none has, it is served under the leases of all segments; see `whole-rounds.ts`.
 */
export class LeasedStock implements StockKeeper {
  readonly #tools: StoreTools;
  readonly #traffic: LeasedTraffic;
  readonly #deliveries: Deliveries;

  constructor(tools: StoreTools, traffic: LeasedTraffic, deliveries: Deliveries) {
    this.#tools = tools;
    this.#traffic = traffic;
    this.#deliveries = deliveries;
  }

  async deduct(order: Order): Promise<Deduction | null> {
    const before = order.isNamed ? await this.#tools.open.find(order.orderId) : undefined;
    if (before) return soldBefore(order.orderId, order.quantity, before);
    for (let only = await this.#promising(order); only.length > 0; only = await this.#promising(order)) {
      const attempt = await this.#attempt(order, only);
      if (attempt.outcome === 'sold') return attempt.sold;
      if (attempt.outcome !== 'dry') break;
    }
    return this.#traffic.rounds.settle(order, this.#tools);
  }

  async refund(orderId: string, signal: AbortSignal): Promise<boolean> {
    const { key } = this.#tools;
    for (;;) {
      const count = await this.#traffic.lock.count();
      const exists = (segment: number) => segment < count;
      const check = (segments: readonly number[]) => mustHave(key, orderId, segments, exists);
      const open = await this.#tools.open.reopen(orderId, { exists, check });
      if (!open) return false;
      if (open !== 'open') return this.#putBack(open, count, signal);
      // The order is at work, or was left by a killed process. A holder of all segments can tell which.
      await this.recover(signal);
    }
  }

  async restock({ restockId, units, signal }: Delivery): Promise<void> {
    const { store, key } = this.#tools;
    if (!store.add) throw missing(key, 'restock', 'add');
    const count = await this.#traffic.lock.count();
    const shares = await this.#deliveries.begin(restockId, units, count);
    const filled = upTo(shares.length).filter((segment) => shares[segment] !== 0);
    mustHave(key, restockId, filled, (segment) => segment < count);
    for (const [segment, share] of shares.entries()) {
      const add = async (lease: SegmentLease) => store.add?.({ key, units: share, restockId, ...placeOf(lease) });
      if (share > 0) await this.#under(segment, signal, add);
      this.#traffic.dry.forget(segment);
    }
  }

  async available(): Promise<number> {
    const { store, key } = this.#tools;
    if (!store.available) throw missing(key, 'available', 'available');
    let units = 0;
    for (const segment of upTo(await this.#traffic.lock.count())) units += await store.available(segment);
    return units;
  }

  async leftovers(): Promise<readonly Leftover[]> {
    const open = await this.#tools.open.all();
    return open.map(({ orderId, units, segments, since }) => ({ orderId, units, segments, since }));
  }

  async recover(signal: AbortSignal): Promise<number> {
    const { lock, dry } = this.#traffic;
    return lock.withAll((leases) => recoverOrders(this.#tools, leases, dry, signal), { waitMs: Infinity, signal });
  }

  /** Returns the segments that may have all units of the order, in the order in which they are to be tried. */
  async #promising({ quantity, routeBy }: Order): Promise<readonly number[]> {
    const known = this.#traffic.segments;
    const chance = routeBy === undefined ? Math.floor(Math.random() * MOST_SEGMENTS) : hash(routeBy);
    const promisingOf = (segments: number) =>
      probingOrder(segments, chance % segments).filter((segment) => this.#traffic.dry.mayHave(segment, quantity));
    if (known !== undefined && promisingOf(known).length === known) return promisingOf(known);
    // Only existing segments may be named, and there may be fewer by now.
    this.#traffic.segments = await this.#traffic.lock.count();
    return promisingOf(this.#traffic.segments);
  }

  async #attempt(order: Order, only: readonly number[]): Promise<Attempt> {
    const { lock, dry } = this.#traffic;
    const whole = { ...order, split: false };
    const take = async (lease: SegmentLease) => {
      this.#traffic.segments = lease.segments;
      return takeOrder(this.#tools, whole, [lease], dry);
    };
    // A recorded sale is valid, even if the lease was lost meanwhile.
    return lock.using(take, { only, signal: order.signal, waitMs: Infinity, onLost: 'ignore' });
  }

  /** @returns whether this call put any units back. Then, and otherwise, all of them are back */
  async #putBack(open: OpenOrder, count: number, signal: AbortSignal): Promise<boolean> {
    let units = 0;
    for (const segment of open.segments.filter((one) => one < count)) {
      const putBack = (lease: SegmentLease) => putBackInto(this.#tools, open.orderId, lease, this.#traffic.dry);
      units += await this.#under(segment, signal, putBack);
    }
    mustHave(this.#tools.key, open.orderId, open.segments, (segment) => segment < count);
    await this.#tools.open.drop(open);
    return units > 0;
  }

  async #under<T>(segment: number, signal: AbortSignal, work: (lease: SegmentLease) => Promise<T>): Promise<T> {
    return this.#traffic.lock.using(work, { only: [segment], signal, waitMs: Infinity, onLost: 'throw' });
  }
}

function missing(key: string, verb: string, method: string): LockConfigurationError {
  return new LockConfigurationError(`"${key}": ${verb} needs a store with ${method}()`, { key });
}

// A segment that had too few units is not tried first for this long.
const HINTS_KEPT_MS = 1_000;

/** The state that the callers of one process share for one stock. */
export class LeasedTraffic {
  readonly dry = new DryHints(HINTS_KEPT_MS);
  readonly rounds: WholeRounds;
  /** The number of segments when it was last read. */
  segments: number | undefined;

  constructor(readonly lock: SegmentedLock) {
    this.rounds = new WholeRounds(lock);
  }

  get isIdle(): boolean {
    return this.rounds.isIdle;
  }
}
