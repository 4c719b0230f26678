import { clearTimer, monotonicNow, nextTurn, setTimer, wallNow } from './real-time.js';
import type { ServerClock } from './server-clock.js';

/** A timer that is later than this has waited for a busy event loop. */
const STALLED_MS = 200;

/**
 * Real time, but for the time in which this process was too busy to read what its clients sent: their silence then
 * says nothing about them.
 */
export class RunningClock implements ServerClock {
  readonly isRunning = true;
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

  /** One turn reads what has arrived on open connections and accepts others, one reads those; one to be sure. */
  whenRead(action: () => void): void {
    nextTurn(() => nextTurn(() => nextTurn(action)));
  }
}
