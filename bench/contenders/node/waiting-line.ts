import type { Lingers, Memory, QueueOrder, QueueReport } from '../../crew/orders.js';
import { monotonicNs } from '../../support/clock.js';
import type { Locker } from './contender.js';
import { TenureLog } from './tenure-log.js';

/** Many callers of one process that wait for one key, and then all get it. */
export class WaitingLine {
  readonly #locker: Locker;
  readonly #log = new TenureLog();
  #held: unknown;
  #beganAt = 0;
  #lingers: Lingers = { times: 0, ms: 0 };
  #passed = 0;
  #left = 0;
  #failure: unknown;
  #end: () => void = () => {};

  constructor(locker: Locker) {
    this.#locker = locker;
  }

  async form({ callers, lingers }: QueueOrder): Promise<QueueReport> {
    this.#lingers = lingers;
    this.#held = await this.#locker.acquire(false);
    const before = memory();
    this.#beganAt = monotonicNs();
    this.#left = callers;
    for (let caller = 0; caller < callers; caller++) {
      // All callers share the same two functions, so that only the memory of the waits is measured.
      this.#locker.acquire(false).then(this.#pass, this.#fail);
    }
    return { before, beganAt: this.#beganAt };
  }

  async drain(file: string): Promise<object> {
    const drained = new Promise<void>((resolve) => (this.#end = resolve));
    await this.#locker.release(this.#held);
    await drained;
    this.#log.write(file);
    if (this.#failure !== undefined) throw this.#failure;
    return {};
  }

  readonly #pass = (held: unknown): void => {
    const from = monotonicNs();
    if (this.#passed++ < this.#lingers.times) setTimeout(() => this.#leave(held, from), this.#lingers.ms);
    else this.#leave(held, from);
  };

  #leave(held: unknown, from: number): void {
    const to = monotonicNs();
    this.#locker.release(held).then(() => {
      this.#log.add(0, false, this.#beganAt, from, to, monotonicNs());
      if (--this.#left === 0) this.#end();
    }, this.#fail);
  }

  readonly #fail = (error: unknown): void => {
    this.#failure = error;
    this.#end();
  };
}

/** Returns the memory use. Collects garbage first if the process was started with that option. */
export function memory(): Memory {
  globalThis.gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  return { heapBytes: heapUsed, residentBytes: rss };
}
