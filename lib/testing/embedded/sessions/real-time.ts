import { performance } from 'node:perf_hooks';
import type { Timers } from './server-clock.js';

// Taken at import, so that a test's fake timers do not stop the server.
export const monotonicNow = performance.now.bind(performance);
export const wallNow = Date.now.bind(Date);
export const setTimer = globalThis.setTimeout;
export const clearTimer = globalThis.clearTimeout;
/** Calls back in the next turn of the event loop. */
export const nextTurn = globalThis.setImmediate;

/** Real time, whichever clock a server uses. */
export const REAL_TIME: Timers = {
  now: monotonicNow,
  after(ms, action) {
    const timer = setTimer(action, ms).unref();
    return () => clearTimer(timer);
  },
};
