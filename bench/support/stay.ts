import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { monotonicNs } from './clock.js';

// By how much a thread that sleeps wakes up late: nobody is to be inside for less than the others.
const OVERSLEPT_NS = 80_000;

/**
 * Resolves after so many milliseconds, as exactly as a thread sleeps. Node's timers count whole milliseconds and are late
 * by up to one of them in a process that has other events, so the last one is waited for turn by turn.
 */
export async function stay(ms: number): Promise<void> {
  const until = monotonicNs() + ms * 1e6 + OVERSLEPT_NS;
  if (ms > 1) await pause(ms - 1);
  while (monotonicNs() < until) await nextTurn();
}
