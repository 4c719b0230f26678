import type { CpuMark } from '../../crew/orders.js';
import { monotonicNs } from '../../support/clock.js';

/**
 * Processor time at the two ends of a window. Timers see to it where callers wait, and the callers themselves where
 * they leave the event loop no turn.
 */
export class CpuMarks {
  /** When the next one is due; `Infinity` when both are taken. */
  nextAt: number;
  readonly #endAt: number;
  readonly #marks: CpuMark[] = [];
  readonly #timers: readonly NodeJS.Timeout[];

  constructor(beginAt: number, endAt: number) {
    this.nextAt = beginAt;
    this.#endAt = endAt;
    const inMs = (at: number) => Math.max(0, Math.ceil((at - monotonicNs()) / 1e6));
    this.#timers = [beginAt, endAt].map((at) => setTimeout(() => this.takeIfDue(), inMs(at)));
  }

  takeIfDue(at: number = monotonicNs()): void {
    if (at >= this.nextAt) this.#take(at);
  }

  /** Both, once everybody is done. */
  finish(): readonly [CpuMark, CpuMark] {
    this.#timers.forEach(clearTimeout);
    while (this.#marks.length < 2) this.#take(monotonicNs());
    const [begin, end] = this.#marks;
    return [begin!, end!];
  }

  #take(at: number): void {
    const { user, system } = process.cpuUsage();
    this.#marks.push({ at, cpuUs: user + system });
    this.nextAt = this.#marks.length === 1 ? this.#endAt : Infinity;
  }
}
