import { orAbort } from '../async/abort.js';
import { hash, upTo } from '../composite/segment-route.js';
import type { SegmentedLock } from '../composite/segmented-lock.js';
import { LockConfigurationError } from '../contract/errors.js';
import { MOST_SEGMENTS } from '../contract/segment.options.js';
import type { SegmentLease } from '../contract/segment.options.js';
import { soldBefore } from './deduction.js';
import type { Deduction, Leftover } from './deduction.js';
import type { Deliveries } from './deliveries.js';
import { DryHints } from './dry-hints.js';
import { mustHave } from './stock-names.js';
import type { OpenOrder } from './open-orders.js';
import type { Delivery, Order, StockKeeper } from './stock-keeper.js';
import { probingOrder } from './stock-plan.js';
import { checkAnswer, placeOf, putBackInto, recoverOrders, takeOrder } from './take-order.js';
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
    const { orderId, isNamed, signal } = order;
    const before = isNamed ? await orAbort(this.#tools.open.find(orderId), signal) : undefined;
    if (before) return soldBefore(orderId, order.quantity, before);
    // A hint about the first segment may be outdated before the last one was tried.
    const tried = new Set<number>();
    for (;;) {
      const only = (await this.#promising(order)).filter((segment) => !tried.has(segment));
      if (only.length === 0) break;
      const attempt = await this.#attempt(order, only, tried);
      if (attempt.outcome === 'sold') return attempt.sold;
      if (attempt.outcome !== 'dry') break;
    }
    return this.#traffic.rounds.settle(order, this.#tools);
  }

  async refund(orderId: string, signal: AbortSignal): Promise<boolean> {
    for (;;) {
      const count = await this.#count(signal);
      const reopened = this.#tools.open.reopen(orderId, (segment) => segment < count);
      const open = await orAbort(reopened, signal);
      if (!open) return false;
      if (open !== 'open') return this.#putBack(open, count, signal);
      // The order is at work, or was left by a killed process. A holder of all segments can tell which.
      await this.recover(signal);
    }
  }

  async restock({ restockId, units, signal }: Delivery): Promise<void> {
    const { store, key } = this.#tools;
    if (!store.add) throw missing(key, 'restock', 'add');
    const count = await this.#count(signal);
    const shares = await orAbort(this.#deliveries.begin(restockId, units, count), signal);
    const filled = upTo(shares.length).filter((segment) => shares[segment] !== 0);
    mustHave(key, restockId, filled, (segment) => segment < count);
    for (const [segment, share] of shares.entries()) {
      const add = async (lease: SegmentLease) => store.add?.({ key, units: share, restockId, ...placeOf(lease) });
      if (share > 0) await this.#under(segment, restockId, signal, add);
      this.#traffic.dry.forget(segment);
    }
  }

  async available(signal: AbortSignal): Promise<number> {
    const { store, key } = this.#tools;
    if (!store.available) throw missing(key, 'available', 'available');
    let units = 0;
    for (const segment of upTo(await this.#count(signal))) {
      const found = await orAbort(store.available(segment), signal);
      checkAnswer('available', found);
      units += found;
    }
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
  async #promising({ quantity, routeBy, signal }: Order): Promise<readonly number[]> {
    const known = this.#traffic.segments;
    const chance = routeBy === undefined ? Math.floor(Math.random() * MOST_SEGMENTS) : hash(routeBy);
    const promisingOf = (segments: number) =>
      probingOrder(segments, chance % segments).filter((segment) => this.#traffic.dry.mayHave(segment, quantity));
    if (known !== undefined && promisingOf(known).length === known) return promisingOf(known);
    // Only existing segments may be named, and there may be fewer by now.
    this.#traffic.segments = await this.#count(signal);
    return promisingOf(this.#traffic.segments);
  }

  /** @param tried the segments that were tried, which are added */
  async #attempt(order: Order, only: readonly number[], tried: Set<number>): Promise<Attempt> {
    const { lock, dry } = this.#traffic;
    const whole = { ...order, split: false };
    const take = async (lease: SegmentLease) => {
      tried.add(lease.segment);
      this.#traffic.segments = lease.segments;
      return takeOrder(this.#tools, whole, [lease], dry);
    };
    // A recorded sale is valid, even if the lease was lost meanwhile.
    const attempt = lock.using(take, { only, signal: order.signal, waitMs: Infinity, onLost: 'ignore' });
    return attempt.catch(async (error: unknown) => {
      // All segments that were waited for may have been removed. Nothing was taken then.
      const isRefusal = error instanceof LockConfigurationError && !only.some((segment) => tried.has(segment));
      const count = isRefusal ? await this.#count(order.signal) : Infinity;
      if (only.some((segment) => segment < count)) throw error;
      this.#traffic.segments = count;
      return { outcome: 'dry', found: 0 };
    });
  }

  /** Returns the number of segments. @throws `signal.reason` */
  async #count(signal: AbortSignal): Promise<number> {
    return orAbort(this.#traffic.lock.count(), signal);
  }

  /** @returns whether this call put any units back. Then, and otherwise, all of them are back */
  async #putBack(open: OpenOrder, count: number, signal: AbortSignal): Promise<boolean> {
    let units = 0;
    for (const segment of open.segments.filter((one) => one < count)) {
      const putBack = (lease: SegmentLease) => putBackInto(this.#tools, open.orderId, lease, this.#traffic.dry);
      units += await this.#under(segment, open.orderId, signal, putBack);
    }
    mustHave(this.#tools.key, open.orderId, open.segments, (segment) => segment < count);
    await this.#tools.open.drop(open);
    return units > 0;
  }

  /** @param id the order or the delivery that the work is part of */
  async #under<T>(
    segment: number,
    id: string,
    signal: AbortSignal,
    work: (lease: SegmentLease) => Promise<T>,
  ): Promise<T> {
    const { lock } = this.#traffic;
    return lock.using(work, { only: [segment], signal, waitMs: Infinity, onLost: 'throw' }).catch(async (error) => {
      // The segment may have been removed while it was waited for.
      const count = error instanceof LockConfigurationError ? await this.#count(signal) : Infinity;
      mustHave(this.#tools.key, id, [segment], (one) => one < count);
      throw error;
    });
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
