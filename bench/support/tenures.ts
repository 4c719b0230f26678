/** The period in which a caller held a lock, on one clock. */
export interface ReentrantHold {
  readonly lock: string | number;
  readonly from: number;
  readonly to: number;
  /** A reader's hold: other readers may hold the lock at the same time. */
  readonly isShared?: boolean;
}

/**
 * Returns the number of holds that began while another one of the same lock was not over. It is 0 for a working lock.
 */
export function overlaps(tenures: readonly ReentrantHold[]): number {
  return byLock(tenures).reduce((sum, ofOne) => sum + overlapsOfOne(ofOne), 0);
}

/**
 * Returns the times between two holds of each lock in which it was free. A reader's hold that begins beside others has
 * none.
 */
export function handOvers(tenures: readonly ReentrantHold[]): number[] {
  return byLock(tenures).flatMap((ofOne) => {
    let freeSince = Number.NaN;
    return ofOne.flatMap(({ from, to }) => {
      const idle = from - freeSince;
      freeSince = Number.isNaN(freeSince) ? to : Math.max(freeSince, to);
      return idle >= 0 ? [idle] : [];
    });
  });
}

function byLock<T extends ReentrantHold>(tenures: readonly T[]): T[][] {
  const locks = new Map<ReentrantHold['lock'], T[]>();
  for (const tenure of tenures) {
    const ofOne = locks.get(tenure.lock);
    if (ofOne) ofOne.push(tenure);
    else locks.set(tenure.lock, [tenure]);
  }
  return [...locks.values()].map((ofOne) => ofOne.sort((a, b) => a.from - b.from));
}

function overlapsOfOne(inOrder: readonly ReentrantHold[]): number {
  let [writtenUntil, readUntil] = [-Infinity, -Infinity];
  let count = 0;
  for (const { from, to, isShared = false } of inOrder) {
    if (from < writtenUntil || (!isShared && from < readUntil)) count++;
    if (isShared) readUntil = Math.max(readUntil, to);
    else writtenUntil = Math.max(writtenUntil, to);
  }
  return count;
}
