/** The distribution of units over segments, and the segments that an order is taken from. Pure functions of levels. */

/** The number of units in each segment, by segment number. */
export type Levels = readonly number[];

/** The units that were taken from one segment. */
export interface StockPart {
  /** The segment's number, starting at 0. */
  readonly segment: number;
  /** The number of units. */
  readonly units: number;
}

export interface TakeRoute {
  /** The segment to try first. */
  readonly first: number;
  /** Whether an order may be taken from several segments if no single one has enough units. */
  readonly split: boolean;
}

export function unitsIn(levels: Levels): number {
  return levels.reduce((sum, units) => sum + units, 0);
}

/** Splits units as evenly as possible. The first segments have one more. */
export function splitStock(units: number, segments: number): number[] {
  const [each, over] = [Math.floor(units / segments), units % segments];
  return Array.from({ length: segments }, (_, segment) => each + (segment < over ? 1 : 0));
}

/** Returns every segment once, from `first` on. */
export function probingOrder(segments: number, first: number): number[] {
  return Array.from({ length: segments }, (_, step) => (first + step) % segments);
}

/**
 * Returns the parts of an order: all of it from the first segment that has enough units, otherwise from as few segments
 * as possible. `undefined` when the order cannot be served.
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

/** Returns the levels after the parts have been taken, or with `sign` 1 put back. */
export function levelsAfter(levels: Levels, parts: readonly StockPart[], sign: -1 | 1): number[] {
  const after = [...levels];
  for (const { segment, units } of parts) after[segment] = (after[segment] ?? 0) + sign * units;
  return after;
}

/** Returns the levels after a delivery of `units`. All units are spread evenly over the first `segments`. */
export function restocked(levels: Levels, units: number, segments: number): Levels {
  const spread = splitStock(unitsIn(levels) + units, segments);
  return Array.from({ length: Math.max(levels.length, segments) }, (_, segment) => spread[segment] ?? 0);
}

/**
 * Returns the levels after a delivery of `units` that changes `atMost` segments: the emptiest of the first `segments`.
 * The delivery is spread over them, together with their units.
 */
export function partlyRestocked(levels: Levels, units: number, segments: number, atMost: number): Levels {
  const after = Array.from({ length: Math.max(levels.length, segments) }, (_, segment) => levels[segment] ?? 0);
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

/** Returns the levels after the units of these parts have been moved to the segment of the first one. */
export function gathered(levels: Levels, parts: readonly StockPart[]): Levels {
  const units = parts.reduce((sum, part) => sum + part.units, 0);
  return levelsAfter(levelsAfter(levels, parts, -1), [{ segment: parts[0]?.segment ?? 0, units }], 1);
}

/**
 * Returns the plan for these segments if it fits into one write, otherwise for half of them, and so on down to the
 * fewest.
 */
export function fittingPlan(
  segments: number,
  fewest: number,
  planFor: (segments: number) => Levels,
  fits: (levels: Levels) => boolean,
): Levels {
  for (let most = segments; most > fewest; most = Math.ceil(most / 2)) {
    const levels = planFor(most);
    if (fits(levels)) return levels;
  }
  return planFor(fewest);
}

/** Returns the number of segments in which it pays to keep this many units. Each is to have `fewest` of them. */
export function activeSegments(units: number, segments: number, fewest: number): number {
  return Math.min(segments, Math.max(1, Math.ceil(units / Math.max(1, fewest))));
}

/**
 * Returns the same units in fewer segments, once more than twice as many have some as it pays to keep. The fullest are
 * kept. A caller takes from all of them at most twice for each time that the stock halves.
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
