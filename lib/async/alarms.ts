import type { Dispose } from './abort.js';
import { now } from './clock.js';
import { Roster } from './roster.js';
import type { Place } from './roster.js';
import { after, LONGEST_TIMER_MS } from './timer.js';

/** What is told when its time has come. It is in one place at a time. */
export interface Alarm {
  /** On the clock `now`; set here. */
  due: number;
  ring(): void;
}

/**
 * Many alarms behind one timer, which keeps no process running. For alarms that are nearly always taken back before they
 * ring: setting one and taking it back touches no timer.
 */
export class Alarms {
  /** Those of one delay are due in the order in which they were set. */
  readonly #byDelay = new Map<number, Roster<Alarm>>();
  #nextDue = Infinity;
  #cancelTimer: Dispose | undefined;

  /** Rings once, after `ms`; until the place is left. */
  set(ms: number, alarm: Alarm): Place<Alarm> {
    let alarms = this.#byDelay.get(ms);
    if (!alarms) this.#byDelay.set(ms, (alarms = new Roster()));
    alarm.due = now() + ms;
    if (alarm.due < this.#nextDue) this.#wakeAt(alarm.due, ms);
    return alarms.join(alarm);
  }

  /** Takes all of them back. */
  clear(): void {
    this.#byDelay.clear();
    this.#stop();
  }

  #wakeAt(due: number, leftMs: number): void {
    this.#stop();
    this.#nextDue = due;
    this.#cancelTimer = after(Math.min(Math.max(1, Math.ceil(leftMs)), LONGEST_TIMER_MS), () => this.#wake(), 'unref');
  }

  #stop(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#nextDue = Infinity;
  }

  #wake(): void {
    this.#stop();
    for (const alarms of this.#byDelay.values()) ringDue(alarms);
    let next = Infinity;
    for (const [ms, alarms] of this.#byDelay) {
      if (alarms.first) next = Math.min(next, alarms.first.due);
      else this.#byDelay.delete(ms);
    }
    if (next < this.#nextDue) this.#wakeAt(next, next - now());
  }
}

function ringDue(alarms: Roster<Alarm>): void {
  for (let { first } = alarms; first && first.due <= now(); { first } = alarms) {
    alarms.shift();
    first.ring();
  }
}
