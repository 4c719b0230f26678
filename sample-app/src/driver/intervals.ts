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
