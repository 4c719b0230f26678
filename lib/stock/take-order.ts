/**
 * The calls of a user's store under leases that are held. An order is taken, or the units of undecided orders are put
 * back.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { NEVER, orAbort } from '../async/abort.js';
import { check } from '../contract/check.js';
import { LockLostError } from '../contract/errors.js';
import type { SegmentLease } from '../contract/segment.options.js';
import { deductionOf, unitsOf } from './deduction.js';
import type { Deduction } from './deduction.js';
import type { DryHints } from './dry-hints.js';
import { mustHave } from './stock-names.js';
import type { OpenOrder, OpenOrders } from './open-orders.js';
import type { SegmentStore, Order } from './stock-keeper.js';
import type { StockPart } from './stock-plan.js';

/** Runs code outside the async context of every caller, with the leases and the transactions in it. */
export const outsideOfAll = AsyncLocalStorage.snapshot();

/** The dependencies of the calls of a user's store. */
export interface StoreTools {
  readonly key: string;
  readonly store: SegmentStore;
  readonly open: OpenOrders;
}

/**
 * The outcome of an attempt. `contested`: there already is an order of this id. `overtaken`: another caller puts its
 * units back.
 */
export type Attempt =
  | { readonly outcome: 'sold'; readonly sold: Deduction }
  | { readonly outcome: 'dry'; readonly found: number }
  | { readonly outcome: 'contested' | 'overtaken' };

/**
 * Takes the order from these segments, from several if it may be split, or nothing at all.
 * @param dry the hints about the segments, which are updated
 * @throws what the store throws; the units that were taken are then put back, or remain open when that fails as well
 */
export async function takeOrder(
  tools: StoreTools,
  order: Pick<Order, 'orderId' | 'quantity' | 'split'>,
  leases: readonly SegmentLease[],
  dry: DryHints,
): Promise<Attempt> {
  const { orderId, quantity, split } = order;
  const promising = leases.filter(({ segment }) => dry.mayHave(segment, split ? 1 : quantity));
  if (promising.length === 0) return { outcome: 'dry', found: 0 };
  const segments = promising.map(({ segment }) => segment);
  const open = await tools.open.begin(orderId, quantity, segments);
  if (!open) return { outcome: 'contested' };
  const parts: StockPart[] = [];
  try {
    for (const lease of promising) {
      const units = await take(tools, order, lease, quantity - unitsOf(parts), dry);
      if (units > 0) parts.push({ segment: lease.segment, units });
      if (unitsOf(parts) === quantity) break;
    }
  } catch (error) {
    // The first error is the one to throw. Units that cannot be put back now are among the leftovers.
    await putBack(tools, open, leases, dry).catch(() => {});
    throw error;
  }
  if (unitsOf(parts) < quantity) {
    await putBack(tools, { ...open, segments: parts.map(({ segment }) => segment) }, leases, dry);
    return { outcome: 'dry', found: unitsOf(parts) };
  }
  const isSold = await tools.open.sell(open, parts);
  return isSold ? { outcome: 'sold', sold: deductionOf(orderId, parts) } : { outcome: 'overtaken' };
}

/**
 * Puts back the units of orders that no process works on any more. For a caller that holds every segment, these are all
 * open orders. The store must not join a transaction of the caller: when that is rolled back, the record that tells of
 * the units is gone.
 * @param signal ends the recovery at once: the store may wait for a row that a transaction of the caller has changed
 * @returns the number of units
 * @throws the first error of the store, after all orders have been tried; `signal.reason`
 */
export async function recoverOrders(
  tools: StoreTools,
  leases: readonly SegmentLease[],
  dry: DryHints,
  signal: AbortSignal = NEVER,
): Promise<number> {
  return orAbort(
    outsideOfAll(() => recoverAll(tools, leases, dry, signal)),
    signal,
  );
}

async function recoverAll(
  tools: StoreTools,
  leases: readonly SegmentLease[],
  dry: DryHints,
  signal: AbortSignal,
): Promise<number> {
  const failures: unknown[] = [];
  let units = 0;
  for (const open of await tools.open.all()) {
    // The segments are released by then.
    signal.throwIfAborted();
    try {
      const claimed = await tools.open.claim(open);
      if (claimed) units += await putBack(tools, claimed, leases, dry);
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
  return units;
}

/**
 * Puts back the units that an order has taken from its segments, and closes it.
 * @returns the number of units
 * @throws LockConfigurationError when a segment was removed, after all others have been tried
 */
async function putBack(
  tools: StoreTools,
  open: OpenOrder,
  leases: readonly SegmentLease[],
  dry: DryHints,
): Promise<number> {
  let units = 0;
  for (const lease of leases.filter(({ segment }) => open.segments.includes(segment))) {
    units += await putBackInto(tools, open.orderId, lease, dry);
  }
  const held = leases.map(({ segment }) => segment);
  mustHave(tools.key, open.orderId, open.segments, (segment) => held.includes(segment));
  await tools.open.drop(open);
  return units;
}

/** Puts back the units that an order has taken from one segment. @returns the number of units */
export async function putBackInto(
  { key, store }: StoreTools,
  orderId: string,
  lease: SegmentLease,
  dry: DryHints,
): Promise<number> {
  const units = await store.putBack({ key, orderId, ...placeOf(lease) });
  dry.forget(lease.segment);
  checkAnswer('putBack', units);
  return units;
}

/**
 * The text that a driver may make of a number is refused, too.
 * @throws LockConfigurationError unless it is a whole number, 0 or more
 */
export function checkAnswer(method: string, units: number): void {
  const isNumber = Number.isSafeInteger(units) && units >= 0;
  check(isNumber, `what the store’s ${method} returns`, units, 'a whole number, 0 or more');
}

async function take(
  { key, store }: StoreTools,
  { orderId, split }: Pick<Order, 'orderId' | 'split'>,
  lease: SegmentLease,
  want: number,
  dry: DryHints,
): Promise<number> {
  const atLeast = split ? 1 : want;
  const units = await store.take({ key, orderId, want, atLeast, ...placeOf(lease) });
  const isAnswer = units === 0 || (Number.isInteger(units) && units >= atLeast && units <= want);
  check(isAnswer, 'what the store’s take returns', units, `0 or a whole number from ${atLeast} to ${want}`);
  if (units < want) dry.note(lease.segment, atLeast);
  return units;
}

/**
 * Returns the segment of a call to the store, and the token and signal of its lease.
 * @throws LockLostError when the lease is not held any more
 */
export function placeOf(lease: SegmentLease): { segment: number; fencingToken: bigint; signal: AbortSignal } {
  const { segment, fencingToken, signal } = lease;
  if (!lease.isHeld()) throw signal.aborted ? signal.reason : new LockLostError(lease.key, 'it was released');
  return { segment, fencingToken, signal };
}
