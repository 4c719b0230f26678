import { TimeHeap } from './time-heap.js';

const LONGEST_MS = 2 ** 31 - 1;

/** A timer of a simulated process, as `setTimeout` and `setInterval` return it. */
export class SimTimer {
  readonly #timers: Timers;
  readonly callback: () => void;
  readonly delayMs: number;
  readonly repeats: boolean;
  /** The due time on the process's monotonic clock. */
  dueMs = 0;
  /** A timer that was cleared never runs again, even when it is refreshed. */
  isCleared = false;
  #hasRef = true;

  constructor(timers: Timers, callback: () => void, delayMs: number, repeats: boolean) {
    this.#timers = timers;
    this.callback = callback;
    this.delayMs = delayMs;
    this.repeats = repeats;
  }

  ref(): this {
    this.#hasRef = true;
    return this;
  }

  unref(): this {
    this.#hasRef = false;
    return this;
  }

  hasRef(): boolean {
    return this.#hasRef;
  }

  refresh(): this {
    this.#timers.arm(this);
    return this;
  }

  close(): this {
    this.#timers.clear(this);
    return this;
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** The timers of one delay, in the order in which they were set. So the first of them is due first. */
interface TimersOfDelay {
  readonly timers: Set<SimTimer>;
  isQueued: boolean;
}

/**
 * The timers of one process, in Node's order. Node keeps a list for each delay. It takes the list whose first timer is
 * due first, and runs all due timers of that list before the next one. After a stall, that order is not the order of
 * due times.
 */
export class Timers {
  readonly #delays = new Map<number, TimersOfDelay>();
  /** Each list that has timers, once. The time is that of its first timer, or of an earlier first timer. */
  readonly #queue = new TimeHeap<{ readonly delayMs: number; readonly list: TimersOfDelay }>();
  readonly #loopMs: () => number;
  readonly #isFirst: () => void;
  /** The list whose timers run at the moment. */
  #running: TimersOfDelay | undefined;

  /**
   * @param loopMs the time of the event loop in whole milliseconds. So a timer may be early by a fraction of one
   * @param isFirst called when a timer was set that is due before all others
   */
  constructor(loopMs: () => number, isFirst: () => void) {
    this.#loopMs = loopMs;
    this.#isFirst = isFirst;
  }

  /** The next due time on the process's monotonic clock. */
  get nextDueMs(): number | undefined {
    return this.#firstList()?.timer.dueMs;
  }

  set(callback: () => void, ms: number | undefined, repeats: boolean): SimTimer {
    const timer = new SimTimer(this, callback, delayOf(Number(ms)), repeats);
    this.arm(timer);
    return timer;
  }

  arm(timer: SimTimer): void {
    if (timer.isCleared) return;
    const before = this.nextDueMs;
    const { delayMs } = timer;
    let list = this.#delays.get(delayMs);
    if (!list) this.#delays.set(delayMs, (list = { timers: new Set(), isQueued: false }));
    list.timers.delete(timer);
    timer.dueMs = this.#loopMs() + delayMs;
    list.timers.add(timer);
    if (!list.isQueued) this.#enqueue(timer.dueMs, delayMs, list);
    if (before === undefined || timer.dueMs < before) this.#isFirst();
  }

  clear(timer: SimTimer): void {
    timer.isCleared = true;
    this.#delays.get(timer.delayMs)?.timers.delete(timer);
  }

  /** Runs the first timer that is due by then. Returns `false` if there is none. */
  runFirst(byMs: number): boolean {
    const timer = this.#nextOfRunning(byMs) ?? this.#nextOfFirst(byMs);
    if (!timer) return false;
    this.#delays.get(timer.delayMs)?.timers.delete(timer);
    try {
      timer.callback();
    } finally {
      if (timer.repeats) this.arm(timer);
    }
    return true;
  }

  #nextOfRunning(byMs: number): SimTimer | undefined {
    const first = this.#running && firstOf(this.#running);
    if (first && first.dueMs <= byMs) return first;
    this.#running = undefined;
    return undefined;
  }

  #nextOfFirst(byMs: number): SimTimer | undefined {
    const first = this.#firstList();
    if (!first || first.timer.dueMs > byMs) return undefined;
    this.#running = first.list;
    return first.timer;
  }

  #firstList(): { readonly list: TimersOfDelay; readonly timer: SimTimer } | undefined {
    for (let first = this.#queue.first; first; first = this.#queue.first) {
      const { delayMs, list } = first.what;
      const timer = firstOf(list);
      if (timer?.dueMs === first.at) return { list, timer };
      this.#queue.pop();
      list.isQueued = false;
      if (timer) this.#enqueue(timer.dueMs, delayMs, list);
      else this.#delays.delete(delayMs);
    }
    return undefined;
  }

  #enqueue(dueMs: number, delayMs: number, list: TimersOfDelay): void {
    list.isQueued = true;
    this.#queue.push(dueMs, { delayMs, list });
  }
}

function firstOf({ timers }: TimersOfDelay): SimTimer | undefined {
  for (const timer of timers) return timer;
  return undefined;
}

/** The delay as Node has it: at least one millisecond, and one millisecond if it is too long. */
function delayOf(ms: number): number {
  return ms >= 1 && ms <= LONGEST_MS ? Math.trunc(ms) : 1;
}
