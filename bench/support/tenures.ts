/** From when to when somebody had a lock, on one clock. */
export interface Tenure {
  readonly lock: string | number;
  readonly from: number;
  readonly to: number;
}

/** How many began while another one of the same lock was not over. Of a lock that works, none. */
export function overlaps(tenures: readonly Tenure[]): number {
  const locks = [...new Set(tenures.map(({ lock }) => lock))];
  const ofLock = (lock: Tenure['lock']) => tenures.filter((tenure) => tenure.lock === lock);
  return locks.reduce<number>((sum, lock) => sum + overlapsOfOne(ofLock(lock)), 0);
}

function overlapsOfOne(tenures: readonly Tenure[]): number {
  let busyUntil = -Infinity;
  let count = 0;
  for (const { from, to } of tenures.toSorted((a, b) => a.from - b.from)) {
    if (from < busyUntil) count++;
    busyUntil = Math.max(busyUntil, to);
  }
  return count;
}
