import { byKey } from '../../../lib/testing/backend-faults/fault-history.js';
import type { Finding } from '../../robustness/validate/finding.js';
import type { Call } from '../model/call.js';
import { asking, callsOn, isDone, isOpen } from '../model/history.js';
import type { CallAsking, MadeCall, SimulationHistory } from '../model/history.js';

type StockCall = MadeCall<Extract<Call, { on: 'stock' }>>;
type Asking<A> = MadeCall<CallAsking<StockCall['call'], A>>;

/** A number of units added or removed once. It may have happened from one time on, and surely had by another. */
interface Move {
  readonly units: number;
  readonly maybeFrom: number;
  readonly surelyBy: number;
}

/**
 * Units are conserved: no missing unit is sold, and none gets lost. An order and a delivery count once, however often
 * they are repeated. `null` was true at some moment of its call.
 */
export function checkStock(history: Pick<SimulationHistory, 'calls'>): Finding[] {
  return byKey(callsOn(history, 'stock').map((one) => ({ ...one, key: one.call.key }))).flatMap((calls) => [
    ...checkOrders(calls),
    ...checkLevels(calls),
  ]);
}

function checkOrders(calls: readonly StockCall[]): Finding[] {
  const byOrder = (one: Asking<'deduct' | 'refund'>) => ({ ...one, key: one.call.orderId });
  return byKey([...asking(calls, 'deduct'), ...asking(calls, 'refund')].map(byOrder)).flatMap((one) => {
    const why = wrongOrder(asking(one, 'deduct'), asking(one, 'refund'));
    return why === undefined ? [] : [finding(`the order "${one[0]!.key}" ${why}`, one)];
  });
}

function wrongOrder(deducts: readonly Asking<'deduct'>[], refunds: readonly Asking<'refund'>[]): string | undefined {
  const sales = deducts.filter(isDone);
  const given = refunds.filter((one) => isDone(one) && one.answer?.value === true);
  const firstRefund = Math.min(...refunds.map(({ from }) => from));
  const refundedBy = Math.min(...refunds.filter(isDone).map(({ until }) => until));
  if (sales.some(({ answer, call }) => answer?.value !== call.units)) return 'was sold with another number of units';
  if (given.length > 1) return 'was refunded twice';
  if (sales.some(({ from }) => from > refundedBy)) return 'was sold after its refund';
  if (given.some(({ until }) => !deducts.some((one) => (isDone(one) || isOpen(one)) && one.from < until)))
    return 'was refunded and had never been sold';
  if (deducts.some(({ answer, until }) => answer?.outcome === 'refused' && firstRefund > until))
    return 'was refused, and nobody had refunded it';
  if (sales.some((sale) => deducts.some(({ answer, from }) => answer?.outcome === 'nothing' && from > sale.until)))
    return 'was sold, and is sold out when it is repeated';
  return undefined;
}

function checkLevels(calls: readonly StockCall[]): Finding[] {
  const came = [...restocksOf(asking(calls, 'restock')), ...refundsOf(calls)];
  const went = salesOf(asking(calls, 'deduct'));
  const level = new Level(came, went);
  return calls.flatMap((one) => {
    const why = wrongLevel(one, level);
    return why === undefined ? [] : [finding(`"${one.call.key}": ${why}`, [one])];
  });
}

function wrongLevel({ call, answer, from, until }: StockCall, level: Level): string | undefined {
  if (answer === undefined) return undefined;
  if (call.ask === 'deduct' && answer.outcome === 'done' && level.most(until, until) < 0) {
    return `more was sold than there was, by ${-level.most(until, until)}`;
  }
  if (call.ask === 'deduct' && answer.outcome === 'nothing' && level.least(from, until) >= call.units) {
    return `${call.units} were refused as sold out, while there were at least ${level.least(from, until)}`;
  }
  if (call.ask !== 'available' || answer.outcome !== 'done') return undefined;
  const [least, most] = [level.least(from, until), level.most(from, until)];
  const told = Number(answer.value);
  return told < least || told > most ? `${told} are said to be there, where there are ${least} to ${most}` : undefined;
}

/** The possible number of units, computed from additions and removals. */
class Level {
  readonly #came: readonly Move[];
  readonly #went: readonly Move[];
  readonly #changes: readonly number[];

  constructor(came: readonly Move[], went: readonly Move[]) {
    this.#came = came;
    this.#went = went;
    const all = [...came, ...went].flatMap(({ maybeFrom, surelyBy }) => [maybeFrom, surelyBy]);
    this.#changes = all.filter((at) => Number.isFinite(at)).sort((a, b) => a - b);
  }

  /** The smallest possible number at any moment of the interval. */
  least(from: number, until: number): number {
    return Math.min(...this.#moments(from, until).map((at) => surely(this.#came, at) - maybe(this.#went, at)));
  }

  /** The largest possible number at any moment of the interval. */
  most(from: number, until: number): number {
    return Math.max(...this.#moments(from, until).map((at) => maybe(this.#came, at) - surely(this.#went, at)));
  }

  #moments(from: number, until: number): number[] {
    return [from, ...this.#changes.filter((at) => at > from && at < until), until];
  }
}

function surely(moves: readonly Move[], at: number): number {
  return moves.reduce((sum, { units, surelyBy }) => (surelyBy <= at ? sum + units : sum), 0);
}

function maybe(moves: readonly Move[], at: number): number {
  return moves.reduce((sum, { units, maybeFrom }) => (maybeFrom <= at ? sum + units : sum), 0);
}

function restocksOf(restocks: readonly Asking<'restock'>[]): Move[] {
  return moves(
    restocks,
    ({ call }) => call.restockId,
    ({ call }) => call.units,
    isDone,
  );
}

function salesOf(deducts: readonly Asking<'deduct'>[]): Move[] {
  return moves(
    deducts,
    ({ call }) => call.orderId,
    ({ call }) => call.units,
    isDone,
  );
}

/** The units that refunds have returned: those of orders that may have been sold. */
function refundsOf(calls: readonly StockCall[]): Move[] {
  const units = new Map(asking(calls, 'deduct').map(({ call }) => [call.orderId, call.units]));
  const effective = asking(calls, 'refund').filter((one) => isOpen(one) || one.answer?.value === true);
  return moves(
    effective,
    ({ call }) => call.orderId,
    ({ call }) => units.get(call.orderId) ?? 0,
    isDone,
  );
}

/** Calls of one name count once. */
function moves<C extends StockCall>(
  calls: readonly C[],
  nameOf: (call: C) => string,
  unitsOf: (call: C) => number,
  isSure: (call: C) => boolean,
): Move[] {
  const effective = calls.filter((one) => isSure(one) || isOpen(one));
  return byKey(effective.map((one) => ({ one, key: nameOf(one) }))).map((named) => ({
    units: unitsOf(named[0]!.one),
    maybeFrom: Math.min(...named.map(({ one }) => one.from)),
    surelyBy: Math.min(...named.map(({ one }) => (isSure(one) ? one.until : Infinity))),
  }));
}

function finding(message: string, records: readonly unknown[]): Finding {
  return { check: 'stock', message, records };
}
