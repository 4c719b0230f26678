import { performance } from 'node:perf_hooks';

// Taken at import, so that a test's fake timers do not stop the clock that leases are judged by.
const monotonic = performance.now.bind(performance);
const wall = Date.now.bind(Date);

const origin = wall() - monotonic();
let suspendedMs = 0;

/**
 * Milliseconds on a clock that never runs backwards and also runs while the machine is suspended: the monotonic clock
 * stops then, so whatever the wall clock is ahead by counts as slept. A wall clock set forward costs a lease too early,
 * never too late.
 */
export function now(): number {
  const elapsed = monotonic();
  suspendedMs = Math.max(suspendedMs, wall() - elapsed - origin);
  return elapsed + suspendedMs;
}
