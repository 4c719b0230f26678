import { clearTimer, monotonicNow, nextTurn, setTimer, wallNow } from './real-time.js';
import type { ServerClock } from './server-clock.js';

/** A timer that is later than this was delayed by a busy event loop. */
const STALLED_MS = 200;

/**
 * Real time without the periods in which this process was too busy to read what its clients sent. The clients' silence
 * during these periods means nothing.
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

  /**
   * One turn reads what has arrived on open connections and accepts new ones. The next one reads those. A third one is
   * for safety.
   */
  whenRead(action: () => void): void {
    const startedAt = this.now();
    const read = () => {
      // Turns have no time of their own: whatever they took, this process was busy.
      const tookMs = this.now() - startedAt;
      if (tookMs > STALLED_MS) this.#stalledMs += tookMs;
      action();
    };
    nextTurn(() => nextTurn(() => nextTurn(read)));
  }
}
