/** From when to when something was going on, in milliseconds. */
export interface Interval {
  readonly from: number;
  readonly to: number;
}

/** The largest number of intervals that had an instant in common. */
export function mostAtOnce(intervals: readonly Interval[]): number {
  const crowds = intervals.map(({ from }) => intervals.filter((other) => other.from <= from && from < other.to).length);
  return Math.max(0, ...crowds);
}

/** How many began before one that had begun earlier was over. */
export function overlapping(intervals: readonly Interval[]): number {
  const inOrder = intervals.toSorted((a, b) => a.from - b.from);
  return inOrder.filter(({ from }, place) => inOrder.slice(0, place).some((earlier) => from < earlier.to)).length;
}
