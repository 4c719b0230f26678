import { NEVER, onAbort, orAbort, OwnAbortController, withAnyAbort } from './abort.js';
import type { Dispose } from './abort.js';
import { now } from './clock.js';
import { LinkedList } from './collections.js';
import type { Place } from './collections.js';

/** The longest delay of a Node timer. A longer one would fire at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Calls `action` after `ms`, unless disposed before. A timer with `unref` does not keep the process running. */
export function after(ms: number, action: () => void, unref?: 'unref'): Dispose {
  const timer = setTimeout(action, Math.min(ms, LONGEST_TIMER_MS));
  if (unref) timer.unref();
  return () => clearTimeout(timer);
}

/**
 * Calls `action` in two turns of the event loop, unless disposed before. After a stall, Node runs timers before it
 * reads sockets. Two turns later, everything that had arrived is read.
 */
export function afterReading(action: () => void): Dispose {
  let turn = setImmediate(() => (turn = setImmediate(action)));
  return () => clearImmediate(turn);
}

/**
 * Calls `action` after `ms`, and after reading, unless disposed before. For limits after which a server is judged by
 * its silence.
 */
export function afterSilence(ms: number, action: () => void): Dispose {
  let cancel = after(ms, () => (cancel = afterReading(action)));
  return () => cancel();
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

/**
 * Resolves when the promise settles, or after `ms` if that is sooner. Never rejects.
 * @param alarms share one timer, for a limit that is hardly ever reached. Default: a timer of its own
 */
export function settledWithin(promise: Promise<unknown>, ms: number, alarms?: Alarms): Promise<void> {
  return new Promise((resolve) => {
    const alarm = alarms?.set(ms, { due: 0, ring: resolve });
    const cancel = alarm ? () => void alarm.leave() : after(ms, resolve);
    const done = () => {
      cancel();
      resolve();
    };
    promise.then(done, done);
  });
}

/** Settles as the promise does, or rejects with `error()` after `ms`, whichever is first. */
export function orTimeout<T>(promise: Promise<T>, ms: number, error: () => unknown): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = after(ms, () => reject(error()));
    promise.then(resolve, reject).finally(cancel);
  });
}

/** Settles as the promise does, or rejects with `signal.reason` when it has not settled `ms` after the signal aborts. */
export function orLateAbort<T>(promise: Promise<T>, signal: AbortSignal, ms: number): Promise<T> {
  return orAbort(promise, signal).catch((error: unknown) => {
    if (!signal.aborted || error !== signal.reason) throw error;
    return orTimeout(promise, ms, () => error);
  });
}

/**
 * The longest time from the first step of a `WaitTimer` to the second, in milliseconds. Enough for two round trips to
 * busy servers.
 */
export const LONGEST_LEAD_MS = 500;
const LEAD_SHARE = 1 / 4;
// Less than this is too short for a reply, so there is no first step.
const SHORTEST_LEAD_MS = 2;

/**
 * The timer of a wait, with two steps: shortly before the end, when the reason for the error is asked for, and at the
 * end. So waits that succeed earlier ask for nothing.
 */
export abstract class WaitTimer {
  #timer: NodeJS.Timeout | undefined;

  protected abstract nearsEnd(): void;

  protected abstract timedOut(): void;

  /** Starts the timer, unless the wait is longer than a timer can be. */
  protected startTimer(leftMs: number): void {
    if (leftMs > LONGEST_TIMER_MS) return;
    const leadMs = Math.min(Math.floor(leftMs * LEAD_SHARE), LONGEST_LEAD_MS);
    // Arguments instead of closures: there may be ten thousand timers.
    this.#timer =
      leadMs < SHORTEST_LEAD_MS
        ? setTimeout(WaitTimer.#end, leftMs, this)
        : setTimeout(WaitTimer.#near, Math.ceil(leftMs - leadMs), this, now() + leftMs, leadMs);
  }

  protected stopTimer(): void {
    clearTimeout(this.#timer);
  }

  static readonly #near = (timer: WaitTimer, end: number, leadMs: number): void => {
    const leftMs = Math.min(leadMs, Math.max(0, end - now()));
    timer.#timer = setTimeout(WaitTimer.#end, Math.ceil(leftMs), timer);
    timer.nearsEnd();
  };

  static readonly #end = (timer: WaitTimer): void => timer.timedOut();
}

/** An object that is notified when it is due. It can be set only once at a time. */
export interface Alarm {
  /** The due time on the clock `now`. `Alarms` sets it. */
  due: number;
  ring(): void;
}

/**
 * Many alarms behind one timer, which does not keep the process running. For alarms that are nearly always cancelled
 * before they are due: setting and cancelling one touches no timer.
 */
export class Alarms {
  /** The alarms by delay. Those of one delay are due in the order in which they were set. */
  readonly #byDelay = new Map<number, LinkedList<Alarm>>();
  #nextDue = Infinity;
  #cancelTimer: Dispose | undefined;

  /** Rings the alarm once, after `ms`, unless the returned place is left before. */
  set(ms: number, alarm: Alarm): Place<Alarm> {
    let alarms = this.#byDelay.get(ms);
    if (!alarms) this.#byDelay.set(ms, (alarms = new LinkedList()));
    alarm.due = now() + ms;
    if (alarm.due < this.#nextDue) this.#wakeAt(alarm.due, ms);
    return alarms.join(alarm);
  }

  /** Cancels all alarms. */
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

function ringDue(alarms: LinkedList<Alarm>): void {
  for (let { first } = alarms; first && first.due <= now(); { first } = alarms) {
    alarms.shift();
    first.ring();
  }
}

/**
 * Returns the result of `work`. Its signal aborts with `reason()` after `ms`, and when `signal` does. `Infinity` means no
 * limit.
 * @throws what `work` throws
 */
export async function withDeadline<T>(
  ms: number,
  reason: () => unknown,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = new OwnAbortController();
  const cancel = ms > LONGEST_TIMER_MS ? () => {} : after(ms, () => deadline.abort(reason()));
  return withAnyAbort([signal, deadline.signal], work).finally(cancel);
}

/**
 * Returns the result of `work`, or `undefined` when that takes longer than `ms`; its signal then aborts. `Infinity`
 * means no limit.
 * @throws what `work` throws, `signal.reason`
 */
export async function limited<T>(
  ms: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  const timeout = Symbol('the time has run out');
  return withDeadline(ms, () => timeout, signal, work).catch((error: unknown) => {
    if (error === timeout) return undefined;
    throw error;
  });
}

/**
 * The pauses between attempts, in milliseconds. They double up to a cap, and are random so that clients do not
 * synchronize.
 */
export interface Backoff {
  next(): number;
  reset(): void;
}

export function backoff(firstMs: number, capMs: number, random: () => number = Math.random): Backoff {
  let attempt = 0;
  return {
    next: () => Math.min(capMs, firstMs * 2 ** Math.min(attempt++, 30)) * (0.5 + random() / 2),
    reset: () => {
      attempt = 0;
    },
  };
}

const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 1_000;

/** Repeats what may be refused, after growing pauses, until it is done or `isOver`. Never rejects. */
export async function untilDone(ask: () => Promise<unknown>, isOver: () => boolean): Promise<void> {
  let pauses: Backoff | undefined;
  while (!isOver()) {
    try {
      await ask();
      return;
    } catch {
      pauses ??= backoff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
      if (!isOver()) await pause(pauses.next(), NEVER);
    }
  }
}

// About a millisecond of the cheapest steps.
const MOST_STEPS = 256;
// A few steps are not worth a callback in each turn: it costs an idle loop one more round.
const FEW_STEPS = 16;

/** Resolves in the next turn of the event loop. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/**
 * A limit for the work in one turn of the event loop. Work that continues from promise to promise never ends the turn.
 * As long as it lasts, no reply is read, no timer runs and no heartbeat is sent.
 */
export class LoopBudget {
  #steps = 0;
  #isCounting = false;

  /** Whether further work should wait for the next turn. */
  get isLong(): boolean {
    return this.#steps >= MOST_STEPS;
  }

  step(): void {
    if (++this.#steps < FEW_STEPS || this.#isCounting) return;
    this.#isCounting = true;
    setImmediate(() => {
      this.#isCounting = false;
      this.#steps = 0;
    });
  }
}
