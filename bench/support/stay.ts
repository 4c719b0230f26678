import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { monotonicNs } from './clock.js';

// The time by which a sleeping thread wakes up late. No contender may hold the lock for less time than the others.
const OVERSLEPT_NS = 80_000;

/**
 * Resolves after so many milliseconds, as exactly as a thread sleeps. Node's timers count whole milliseconds, and are
 * up to one late in a process with other events. The last millisecond is therefore polled in every turn of the event
 * loop.
 */
export async function stay(ms: number): Promise<void> {
  const until = monotonicNs() + ms * 1e6 + OVERSLEPT_NS;
  if (ms > 1) await pause(ms - 1);
  while (monotonicNs() < until) await nextTurn();
}
