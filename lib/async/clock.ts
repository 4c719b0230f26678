import { performance } from 'node:perf_hooks';

// Taken at import, so that a test's fake timers do not stop the clock that leases are judged by.
const monotonicNow = performance.now.bind(performance);
const wallNow = Date.now.bind(Date);

// Less than this between two readings is rounding, or the wall clock being slewed.
const SLEPT_MS = 50;

/** A clock over a monotonic one, which stops while the machine is suspended, and the wall clock, which may be set. */
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
 * Milliseconds on a clock that never runs backwards and also runs while the machine is suspended: what the wall clock
 * gains on the monotonic one between two readings counts as slept. A wall clock that is set forward costs a lease too
 * early; one that is set back changes nothing, unless the machine sleeps between the same two readings.
 */
export const now: () => number = suspendAwareClock(monotonicNow, wallNow);
