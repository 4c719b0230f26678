import { hash } from '../composite/segment-route.js';
import type { RecordChange } from '../contract/record-store.js';
import { deductionOf } from './deduction.js';
import type { Deduction, OrderRecord } from './deduction.js';
import type { PlanHints, Planned, StockCommand } from './stock-writer.js';
import type { Delivery, Order } from './stock-keeper.js';
import {
  fittingPlan,
  gathered,
  levelsAfter,
  mergeLevels,
  partlyRestocked,
  planTake,
  restocked,
  unitsIn,
} from './stock-plan.js';
import type { Levels, StockPart } from './stock-plan.js';

type SoldBefore = () => Promise<Deduction | undefined>;
type Again = () => Promise<Deduction | null>;

/** Takes the units of an order, or finds that there are not enough. */
export class Purchase implements StockCommand<Deduction | null> {
  readonly recordName: string;
  readonly contested: () => Promise<Deduction | null>;
  readonly #order: Order;
  readonly #mergeBelow: number;
  readonly #soldBefore: SoldBefore;

  /**
   * @param soldBefore returns the earlier sale under this order id, if there was one
   * @param again orders again: the earlier sale was forgotten when it was looked for
   */
  constructor(order: Order, recordName: string, mergeBelow: number, soldBefore: SoldBefore, again: Again) {
    this.#order = order;
    this.recordName = recordName;
    this.#mergeBelow = mergeBelow;
    this.#soldBefore = soldBefore;
    this.contested = async () => (await soldBefore()) ?? again();
  }

  plan(levels: Levels, hints: PlanHints): Planned<Deduction | null> {
    const { orderId, quantity, split, routeBy } = this.#order;
    const first = (routeBy === undefined ? hints.first : hash(routeBy)) % Math.max(1, levels.length);
    const parts = planTake(levels, quantity, { first, split });
    if (!parts) return { answer: () => this.#soldOut() };
    const after = levelsAfter(levels, parts, -1);
    const value = JSON.stringify({ state: 'sold', parts } satisfies OrderRecord);
    const change: RecordChange = { name: this.recordName, value, ifVersion: 'absent' };
    if (parts.length > 1 && !hints.fits(after, change)) return { moved: this.#gathered(levels, parts, hints) };
    return { levels: this.#merged(after, change, hints), change, outcome: deductionOf(orderId, parts) };
  }

  #merged(after: Levels, change: RecordChange, { attempt, fits }: PlanHints): Levels {
    // After a conflict, a write to many segments would make another conflict more likely.
    if (attempt > 0) return after;
    const merged = mergeLevels(after, this.#mergeBelow);
    return fits(merged, change) ? merged : after;
  }

  /** Moves units of the order to one segment, so that it is taken from fewer. After a conflict, from fewer segments. */
  #gathered(levels: Levels, parts: readonly StockPart[], { attempt, fits }: PlanHints): Levels {
    const most = Math.ceil(parts.length / 2 ** attempt);
    return fittingPlan(most, 2, (segments) => gathered(levels, parts.slice(0, segments)), fits);
  }

  /** Returns the earlier sale if this order was already made, otherwise `null`. */
  async #soldOut(): Promise<Deduction | null> {
    return (this.#order.isNamed && (await this.#soldBefore())) || null;
  }
}

/** Puts the units of an order back. */
export class Refund implements StockCommand<boolean> {
  readonly recordName: string;
  readonly #version: number;
  readonly #parts: readonly StockPart[];

  constructor(recordName: string, version: number, parts: readonly StockPart[]) {
    this.recordName = recordName;
    this.#version = version;
    this.#parts = parts;
  }

  plan(levels: Levels): Planned<boolean> {
    const value = JSON.stringify({ state: 'refunded', parts: this.#parts } satisfies OrderRecord);
    return {
      levels: levelsAfter(levels, this.#parts, 1),
      change: { name: this.recordName, value, ifVersion: this.#version },
      outcome: true,
    };
  }

  /** Another call refunds the order. */
  async contested(): Promise<boolean> {
    return false;
  }
}

/** Adds a delivery, and spreads it together with the units that are there. */
export class Restock implements StockCommand<void> {
  readonly recordName: string;
  readonly contested: () => Promise<void>;
  readonly #delivery: Delivery;

  /**
   * @param repeated throws when the delivery that was made under this id is another one, and delivers again when it was
   *   forgotten
   */
  constructor(delivery: Delivery, recordName: string, repeated: () => Promise<void>) {
    this.#delivery = delivery;
    this.recordName = recordName;
    this.contested = repeated;
  }

  plan(levels: Levels, hints: PlanHints): Planned<void> {
    const { units } = this.#delivery;
    const change: RecordChange = { name: this.recordName, value: String(units), ifVersion: 'absent' };
    return { levels: this.#restocked(levels, change, hints), change, outcome: undefined };
  }

  #restocked(levels: Levels, change: RecordChange, hints: PlanHints): Levels {
    const { attempt } = hints;
    const { units, segments } = this.#delivery;
    const fits = (after: Levels) => hints.fits(after, change);
    const spread = restocked(levels, units, segments);
    if (attempt === 0 && fits(spread)) return spread;
    // While others sell all the time, some segment changes before every write. So each attempt writes to fewer
    // segments, down to one.
    const most = Math.ceil(segments / 2 ** attempt);
    return fittingPlan(most, 1, (atMost) => partlyRestocked(levels, units, segments, atMost), fits);
  }
}

/** Counts all units at one moment. */
export class Count implements StockCommand<number> {
  plan(levels: Levels): Planned<number> {
    return { answer: () => unitsIn(levels) };
  }
}
