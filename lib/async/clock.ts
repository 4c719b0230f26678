import { performance } from 'node:perf_hooks';

// Taken at import, so that a test's fake timers do not stop the clock that leases are checked against.
const monotonicNow = performance.now.bind(performance);
const wallNow = Date.now.bind(Date);

// A smaller difference between two readings is rounding, or the wall clock being slewed.
const SLEPT_MS = 50;

/**
 * Returns a clock made of two: a monotonic one, which stops while the machine is suspended, and the wall clock, which
 * may be set.
 */
export function suspendAwareClock(monotonic: () => number, wall: () => number): () => number {
  let slept = 0;
  let lastMonotonic = monotonic();
  let lastWall = wall();
  return () => {
    const newMonotonic = monotonic();
    const newWall = wall();
    const ahead = newWall - lastWall - (newMonotonic - lastMonotonic);
    if (ahead > SLEPT_MS) slept += ahead;
    lastMonotonic = newMonotonic;
    lastWall = newWall;
    return newMonotonic + slept;
  };
}

/**
 * Returns milliseconds on a clock that never runs backwards and also runs while the machine is suspended. The time that
 * the wall clock gains on the monotonic clock between two readings counts as suspended. If the wall clock is set
 * forward, a lease is lost too early. If it is set back, nothing changes, unless the machine is suspended between the
 * same two readings.
 */
export const now: () => number = suspendAwareClock(monotonicNow, wallNow);
