import { onAbort } from './abort.js';
import type { Dispose } from './abort.js';

/** The longest a Node timer can run; a longer one would fire at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Calls `action` after `ms`, unless disposed before. A timer with `unref` keeps no process running. */
export function after(ms: number, action: () => void, unref?: 'unref'): Dispose {
  const timer = setTimeout(action, Math.min(ms, LONGEST_TIMER_MS));
  if (unref) timer.unref();
  return () => clearTimeout(timer);
}

/** Resolves after `ms`, or rejects with `signal.reason`. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = after(ms, () => {
      dispose();
      resolve();
    });
    const dispose = onAbort(signal, (reason) => {
      cancel();
      reject(reason);
    });
  });
}

/** Resolves with the promise's end, however it ends, or after `ms` if that is sooner. Never rejects. */
export function settledWithin(promise: Promise<unknown>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const cancel = after(ms, resolve);
    const done = () => {
      cancel();
      resolve();
    };
    promise.then(done, done);
  });
}

/** The promise, or a rejection with `error()` after `ms`, whichever is first. */
export function orTimeout<T>(promise: Promise<T>, ms: number, error: () => unknown): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = after(ms, () => reject(error()));
    promise.then(resolve, reject).finally(cancel);
  });
}
