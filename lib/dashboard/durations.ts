import type { ShownDurations } from './answers.js';

/** The upper bounds of the buckets, in milliseconds. One more bucket has what is longer. */
export const BOUNDS_MS: readonly number[] = [
  1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000,
];

/** Counts durations in buckets. */
export class Durations {
  readonly counts: number[] = BOUNDS_MS.map(() => 0).concat(0);

  add(ms: number): void {
    const place = BOUNDS_MS.findIndex((bound) => ms <= bound);
    const at = place < 0 ? BOUNDS_MS.length : place;
    this.counts[at] = (this.counts[at] ?? 0) + 1;
  }
}

/** Returns the sum of these counts, as the page shows it. */
export function shownDurations(all: readonly Durations[]): ShownDurations {
  const counts = BOUNDS_MS.map(() => 0).concat(0);
  for (const one of all) one.counts.forEach((count, at) => (counts[at] = (counts[at] ?? 0) + count));
  return { boundsMs: BOUNDS_MS, counts, p50Ms: percentile(counts, 0.5), p99Ms: percentile(counts, 0.99) };
}

/** Returns the duration below which this share of them is, interpolated inside its bucket. */
export function percentile(counts: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let left = share * total;
  for (const [at, count] of counts.entries()) {
    const from = BOUNDS_MS[at - 1] ?? 0;
    const to = BOUNDS_MS[at] ?? from;
    if (left <= count) return Math.round(100 * (from + ((to - from) * left) / count)) / 100;
    left -= count;
  }
  return BOUNDS_MS.at(-1) ?? null;
}
