import { orTimeout } from '../async/timer.js';

const LONGEST_MS = 2_000;

/**
 * Settles as the promise does, or rejects after two seconds. While no server is connected a backend waits for one for
 * longer than that, and in that time the page should show the session.
 */
export function inTime<T>(promise: Promise<T>): Promise<T> {
  return orTimeout(promise, LONGEST_MS, () => new Error(`the servers have not answered within ${LONGEST_MS} ms`));
}
