import { performance } from 'node:perf_hooks';
import type { ServerClock } from './server-clock.js';

// Taken at import, so that a test's fake timers do not stop the server.
const monotonicNow = performance.now.bind(performance);
const wallNow = Date.now.bind(Date);
const { setTimeout: setTimer, clearTimeout: clearTimer, setImmediate: soon } = globalThis;

/** A timer that is later than this has waited for a busy event loop. */
const STALLED_MS = 200;

/**
 * Real time, but for the time in which this process was too busy to read what its clients sent: their silence then
 * says nothing about them.
 */
export class RunningClock implements ServerClock {
  #stalledMs = 0;

  now(): number {
    return monotonicNow() - this.#stalledMs;
  }

  wall(): number {
    return wallNow();
  }

  after(ms: number, action: () => void): () => void {
    const dueAt = this.now() + ms;
    const timer = setTimer(() => {
      const lateMs = this.now() - dueAt;
      if (lateMs > STALLED_MS) this.#stalledMs += lateMs;
      action();
    }, ms).unref();
    return () => clearTimer(timer);
  }

  /** Two turns of the event loop: one reads what has arrived on open connections, one accepts and one reads others. */
  whenRead(action: () => void): void {
    soon(() => soon(() => soon(action)));
  }
}
