import { TimeHeap } from './time-heap.js';
import type { SimProcess } from './sim-process.js';

/** With this many callbacks at one instant, time stands still. */
const MOST_CALLBACKS_AT_ONE_INSTANT = 100_000;
// Node drains promises and ticks after each immediate, so several in a row need only one turn of the real loop.
const IMMEDIATES_AT_ONCE = 64;

/** A process never waits for anything: it spins. */
export class TimeStandsStill extends Error {}

/**
 * Virtual time, and all planned events in one order that the seed decides. Times are whole microseconds since the start
 * of the world. Nothing takes time by itself: between two events the clock jumps.
 */
export class World {
  readonly #events = new TimeHeap<() => void>();
  #now = 0;
  #turn: SimProcess | undefined;
  #callbacks = 0;
  #callbacksOfInstant = 0;
  #isOver: () => boolean = () => false;
  #resolve: () => void = () => {};
  #reject: (error: unknown) => void = () => {};
  #isRunning = false;
  #planned = 0;

  /** The time in whole microseconds. */
  get now(): number {
    return this.#now;
  }

  /** The time of the next planned event. */
  get nextAt(): number {
    return this.#events.first?.at ?? Infinity;
  }

  /** The number of callbacks that processes have run. */
  get callbacks(): number {
    return this.#callbacks;
  }

  /** The process whose code is running, if any. */
  get running(): SimProcess | undefined {
    return this.#turn;
  }

  /** Calls `action` at this time, after everything that was planned for the same time before. */
  at(time: number, action: () => void): void {
    this.#events.push(Math.max(time, this.#now), action);
  }

  after(microseconds: number, action: () => void): void {
    this.at(this.#now + microseconds, action);
  }

  /** Begins a turn of a process. Its callbacks run one by one until it has nothing more to do at this time. */
  beginTurn(process: SimProcess): void {
    this.#turn = process;
  }

  /** Lets time pass until this time, or until `isOver` returns `true`, which is called after every event. */
  async run(until: number, isOver: () => boolean = () => false): Promise<void> {
    if (this.#isRunning) throw new Error('time passes already: await the run before');
    this.#isOver = () => isOver() || this.nextAt > until;
    await new Promise<void>((resolve, reject) => {
      this.#resolve = () => {
        if (!isOver()) this.#now = Math.max(this.#now, until);
        resolve();
      };
      this.#reject = reject;
      this.#isRunning = true;
      this.#plan();
    });
  }

  #plan(): void {
    this.#planned = IMMEDIATES_AT_ONCE;
    for (let count = 0; count < IMMEDIATES_AT_ONCE; count++) setImmediate(this.#step);
  }

  /** Runs one callback of a process. The promises and ticks that it wakes run before the next. */
  readonly #step = (): void => {
    this.#planned--;
    if (!this.#isRunning) return;
    try {
      if (!this.#advance()) return this.#stop(this.#resolve);
    } catch (error) {
      this.uncaught(error);
      if (!this.#isRunning) return;
    }
    if (this.#planned === 0) this.#plan();
  };

  /** Handles an uncaught exception. It ends the process whose code is running; without one the run fails. */
  uncaught(error: unknown): void {
    // No run is under way that could fail.
    if (!this.#isRunning) throw error;
    const end = this.#turn?.uncaught;
    if (end && !(error instanceof TimeStandsStill)) return end(error);
    this.#stop(() => this.#reject(error));
  }

  #stop(settle: () => void): void {
    this.#isRunning = false;
    settle();
  }

  /** Runs the next callback of a process. Returns `false` if the run is over. */
  #advance(): boolean {
    for (;;) {
      if (this.#turn) {
        if (this.#turn.runNext()) return this.#count();
        this.#turn = undefined;
      }
      if (this.#isOver()) return false;
      const event = this.#events.pop();
      if (!event) return false;
      if (event.at > this.#now) this.#callbacksOfInstant = 0;
      this.#now = event.at;
      event.what();
    }
  }

  #count(): boolean {
    this.#callbacks++;
    if (++this.#callbacksOfInstant > MOST_CALLBACKS_AT_ONE_INSTANT) {
      throw new TimeStandsStill(`${this.#turn?.name} runs on at ${this.#now} µs without a timer: time does not pass`);
    }
    return true;
  }
}
