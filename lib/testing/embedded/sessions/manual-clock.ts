import type { ServerClock } from './server-clock.js';

interface Alarm {
  readonly dueAt: number;
  readonly action: () => void;
}

/** A clock whose time passes only by `advance()`. */
export class ManualClock implements ServerClock {
  readonly isRunning = false;
  readonly #startedAt = Date.now();
  readonly #alarms = new Set<Alarm>();
  #now = 0;

  now(): number {
    return this.#now;
  }

  wall(): number {
    return this.#startedAt + this.#now;
  }

  after(ms: number, action: () => void): () => void {
    const alarm = { dueAt: this.#now + ms, action };
    this.#alarms.add(alarm);
    return () => this.#alarms.delete(alarm);
  }

  whenRead(action: () => void): void {
    action();
  }

  /** Advances the time. All actions that are due within `ms` run before this returns, in order. */
  advance(ms: number): void {
    const until = this.#now + ms;
    for (let next = this.#next(until); next; next = this.#next(until)) {
      this.#alarms.delete(next);
      this.#now = Math.max(this.#now, next.dueAt);
      next.action();
    }
    this.#now = until;
  }

  #next(until: number): Alarm | undefined {
    const due = [...this.#alarms].filter(({ dueAt }) => dueAt <= until);
    return due.reduce<Alarm | undefined>(
      (first, alarm) => (first && first.dueAt <= alarm.dueAt ? first : alarm),
      undefined,
    );
  }
}

/** Advances a manual clock. @throws Error for a running clock, RangeError for an invalid duration */
export function advance(clock: ServerClock, ms: number): void {
  if (!(clock instanceof ManualClock)) throw new Error("advance() needs the option clock: 'manual'");
  if (!Number.isFinite(ms) || ms < 0) throw new RangeError(`time passes by milliseconds, 0 or more, got ${ms}`);
  clock.advance(ms);
}
