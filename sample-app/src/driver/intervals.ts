/** A period of time, in milliseconds. */
export interface Interval {
  readonly from: number;
  readonly to: number;
}

/** Returns the largest number of intervals that overlap at one instant. */
export function mostAtOnce(intervals: readonly Interval[]): number {
  const crowds = intervals.map(({ from }) => intervals.filter((other) => other.from <= from && from < other.to).length);
  return Math.max(0, ...crowds);
}
