/** How units lie in segments, and where an order takes them. Pure: levels in, levels and parts out. */

/** The units in each segment, by its number. */
export type Levels = readonly number[];

/** What was taken from one segment. */
export interface StockPart {
  readonly segment: number;
  readonly units: number;
}

export interface TakeRoute {
  /** The segment to look at first. */
  readonly first: number;
  /** Whether an order that no segment holds may be taken from several. */
  readonly split: boolean;
}

export function unitsIn(levels: Levels): number {
  return levels.reduce((sum, units) => sum + units, 0);
}

/** As even as whole units can be: the first segments have one more. */
export function splitStock(units: number, segments: number): number[] {
  const [each, over] = [Math.floor(units / segments), units % segments];
  return Array.from({ length: segments }, (_, segment) => each + (segment < over ? 1 : 0));
}

/** Every segment once, from `first` on. */
export function probingOrder(segments: number, first: number): number[] {
  return Array.from({ length: segments }, (_, step) => (first + step) % segments);
}

/**
 * The parts of an order: all of it from the first segment that has so many, else from as few as possible.
 * `undefined` when it can not be had.
 */
export function planTake(levels: Levels, quantity: number, { first, split }: TakeRoute): StockPart[] | undefined {
  const order = probingOrder(levels.length, first);
  const at = (segment: number) => levels[segment] ?? 0;
  const whole = order.find((segment) => at(segment) >= quantity);
  if (whole !== undefined) return [{ segment: whole, units: quantity }];
  if (!split || unitsIn(levels) < quantity) return undefined;
  let missing = quantity;
  const fullestFirst = order.sort((a, b) => at(b) - at(a));
  const parts = fullestFirst.map((segment) => {
    const units = Math.min(missing, at(segment));
    missing -= units;
    return { segment, units };
  });
  return parts.filter(({ units }) => units > 0);
}

/** The levels when the parts are taken, or with `sign` 1 put back. */
export function levelsAfter(levels: Levels, parts: readonly StockPart[], sign: -1 | 1): number[] {
  const after = [...levels];
  for (const { segment, units } of parts) after[segment] = (after[segment] ?? 0) + sign * units;
  return after;
}

/**
 * The levels with so many units more, all that is there spread evenly over the first `segments`; or, if no more than
 * `atMost` may change, over the emptiest.
 */
export function restocked(levels: Levels, units: number, segments: number, atMost: number): Levels {
  const after = Array.from({ length: Math.max(levels.length, segments) }, (_, segment) => levels[segment] ?? 0);
  if (atMost >= segments) {
    const spread = splitStock(unitsIn(after) + units, segments);
    return after.map((_, segment) => spread[segment] ?? 0);
  }
  const at = (segment: number) => after[segment] ?? 0;
  const emptiest = probingOrder(segments, 0)
    .sort((a, b) => at(a) - at(b))
    .slice(0, atMost);
  const spread = splitStock(
    emptiest.reduce((sum, segment) => sum + at(segment), units),
    atMost,
  );
  emptiest.forEach((segment, place) => (after[segment] = spread[place] ?? 0));
  return after;
}

/** Into how many segments it pays to keep so many units: each is to have `fewest` of them. */
export function activeSegments(units: number, segments: number, fewest: number): number {
  return Math.min(segments, Math.max(1, Math.ceil(units / Math.max(1, fewest))));
}

/**
 * The same units in fewer segments, once more than twice as many have some as it pays to keep: who takes from all of
 * them does so twice as often as the stock halves, and no more. The fullest are kept.
 */
export function mergeLevels(levels: Levels, fewest: number): Levels {
  const filled = levels.flatMap((units, segment) => (units > 0 ? [segment] : []));
  const active = activeSegments(unitsIn(levels), levels.length, fewest);
  if (filled.length <= 2 * active) return levels;
  const kept = filled.sort((a, b) => (levels[b] ?? 0) - (levels[a] ?? 0)).slice(0, active);
  const merged = levels.map(() => 0);
  splitStock(unitsIn(levels), active).forEach((units, place) => (merged[kept[place] ?? 0] = units));
  return merged;
}
