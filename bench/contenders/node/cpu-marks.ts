import type { CpuMark } from '../../crew/orders.js';
import { monotonicNs } from '../../support/clock.js';

/**
 * The processor time at both ends of a window. Timers take it where callers wait. The callers take it themselves where
 * they keep the event loop busy.
 */
export class CpuMarks {
  /** The time at which the next one is due; `Infinity` when both are taken. */
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

  /** Returns both, once all callers have finished. */
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
