import { check, checkFields, checkMs, checkSignal } from '../contract/check.js';
import { checkRouteBy, checkSegments } from '../contract/segment.options.js';
import type { SegmentStore } from './stock-keeper.js';

/** The options of a stock. */
export interface StockOptions {
  /** The number of segments over which the units are spread, 1 to 1,024. */
  readonly segments: number;
  /** The store of the units, if you keep them yourself. Default: records in ZooKeeper, which need no lock. */
  readonly store?: SegmentStore | undefined;
  /** Whether an order may be taken from several segments if no single one has enough units. Default `true`. */
  readonly split?: boolean | undefined;
  /**
   * The longest time that a call takes, in milliseconds, 1 or more. Default: the module's `waitMs`, 10 000 if that is
   * 0.
   */
  readonly waitMs?: number | undefined;
  /**
   * The approximate number of units per segment as the stock falls: it is then kept in fewer segments. Only for the
   * built-in store. Default 8.
   */
  readonly mergeBelow?: number | undefined;
}

/** The options of a call of a stock. */
export interface StockCallOptions {
  /** The longest time that the call takes, in milliseconds, 1 or more. Default: that of the stock. */
  readonly waitMs?: number | undefined;
  /** Aborts the call, which rejects with `signal.reason` itself. Has no effect once units are being taken. */
  readonly signal?: AbortSignal | undefined;
}

/** The options of `deduct`. */
export interface DeductOptions extends StockCallOptions {
  /**
   * Your own name for the order, used once. The same name again returns the same deduction and takes nothing more. Use
   * it when the outcome of a call may be unknown. Default: a new one.
   */
  readonly orderId?: string | undefined;
  /**
   * The value that decides which segment is tried first, such as the buyer's id. Default: a segment that others do not
   * use.
   */
  readonly routeBy?: string | number | undefined;
  /** Whether the order may be taken from several segments. Default: that of the stock. */
  readonly split?: boolean | undefined;
}

/** The options of `restock`. */
export interface RestockOptions extends StockCallOptions {
  /**
   * Your own name for the delivery, used once. The same name again adds nothing more. With another number of units it
   * is refused. Default: a new one.
   */
  readonly restockId?: string | undefined;
}

/** The options of `forget`. */
export interface ForgetOptions {
  /**
   * The minimum age of what is forgotten, in milliseconds. It must be longer than any call takes, and than the time in
   * which a failed call may be repeated.
   */
  readonly olderThanMs: number;
}

export type ResolvedStockOptions = Required<Omit<StockOptions, 'store'>> & Pick<StockOptions, 'store'>;

export const DEFAULTS = Object.freeze({ split: true, mergeBelow: 8, waitMs: 10_000 } as const);

const FIELDS = ['segments', 'store', 'split', 'waitMs', 'mergeBelow'];
const CALL_FIELDS = ['waitMs', 'signal'];
const LONGEST_ID = 200;
// Thousands of deliveries of this size can still be counted exactly.
const MOST_UNITS = 10 ** 12;

/** Merges the options with the defaults and checks them. @throws LockConfigurationError that names the wrong field */
export function resolveStockOptions(options: StockOptions, defaultWaitMs: number): ResolvedStockOptions {
  checkFields('stock options', options, FIELDS);
  const { segments, store, split = DEFAULTS.split, mergeBelow = DEFAULTS.mergeBelow } = options;
  // The module's `waitMs` may be 0, which leaves no time for any request.
  const { waitMs = defaultWaitMs >= 1 ? defaultWaitMs : DEFAULTS.waitMs } = options;
  checkSegments(segments);
  checkStore(store);
  check(typeof split === 'boolean', 'split', split, 'true or false');
  checkMs('waitMs', waitMs, 1);
  checkUnits('mergeBelow', mergeBelow);
  return { segments, store, split, waitMs, mergeBelow };
}

/** @throws LockConfigurationError that names the wrong field */
export function checkDeduction(quantity: unknown, options: DeductOptions): void {
  checkUnits('quantity', quantity);
  checkFields('deduct options', options, [...CALL_FIELDS, 'orderId', 'routeBy', 'split']);
  checkCall(options);
  const { orderId, routeBy, split } = options;
  if (orderId !== undefined) checkId('orderId', orderId);
  if (routeBy !== undefined) checkRouteBy(routeBy);
  check(split === undefined || typeof split === 'boolean', 'split', split, 'true or false');
}

/** @throws LockConfigurationError that names the wrong field */
export function checkRestock(units: unknown, options: RestockOptions): void {
  checkUnits('units', units);
  checkFields('restock options', options, [...CALL_FIELDS, 'restockId']);
  checkCall(options);
  if (options.restockId !== undefined) checkId('restockId', options.restockId);
}

/** @throws LockConfigurationError that names the wrong field */
export function checkCallOptions(options: StockCallOptions): void {
  checkFields('stock call options', options, CALL_FIELDS);
  checkCall(options);
}

/** @throws LockConfigurationError that names the wrong field */
export function checkForgetting(options: ForgetOptions): void {
  checkFields('forget options', options, ['olderThanMs']);
  checkMs('olderThanMs', options.olderThanMs);
}

/** @throws LockConfigurationError when `id` cannot be the name of an order or a delivery */
export function checkId(field: string, id: unknown): asserts id is string {
  // A server would refuse half of a pair.
  const isId = typeof id === 'string' && id !== '' && id.length <= LONGEST_ID && id.isWellFormed();
  check(isId, field, id, `a string of 1 to ${LONGEST_ID} characters, without half of a surrogate pair`);
}

/** @throws LockConfigurationError when `units` is not a number of units */
export function checkUnits(field: string, units: unknown): asserts units is number {
  const isUnits = Number.isInteger(units) && (units as number) >= 1 && (units as number) <= MOST_UNITS;
  check(isUnits, field, units, `a whole number from 1 to ${MOST_UNITS}`);
}

function checkCall({ waitMs, signal }: StockCallOptions): void {
  if (waitMs !== undefined) checkMs('waitMs', waitMs, 1);
  checkSignal(signal);
}

function checkStore(store: unknown): void {
  if (store === undefined) return;
  const { take, putBack } = Object(store) as Partial<SegmentStore>;
  check(typeof take === 'function' && typeof putBack === 'function', 'store', store, 'an object with take and putBack');
}
