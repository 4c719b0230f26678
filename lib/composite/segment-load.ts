import type { Dispose } from '../async/abort.js';
import { now } from '../async/clock.js';
import { BoundedMap } from '../async/bounded-map.js';

const NOBODY: ReadonlyMap<number, number> = new Map();
const MOST_FULL = 10_000;
// The first is longer than a round of tries takes; the last bounds for how long free segments can be overlooked.
const FIRST_FULL_MS = 50;
const LONGEST_FULL_MS = 1_000;

/** Since when, and for how long, a key is not to be tried. */
interface Full {
  readonly until: number;
  readonly lengthMs: number;
}

/** What this process knows about the segments of one key. */
export interface KeyLoad {
  /** Its own callers at each segment, who hold it or wait for it; a segment without any is not there. */
  callers(): ReadonlyMap<number, number>;
  /** Whether others here have tried in vain a moment ago. Each time in vain the moment is twice as long. */
  isFull(): boolean;
  triedInVain(): void;
  triedWithSuccess(): void;
  /** Counts one caller, until they leave. */
  enter(segment: number): Dispose;
}

/** How busy segments are, as far as this process knows without asking: hints that nobody's safety depends on. */
export class SegmentLoad {
  readonly #callers = new Map<string, Map<number, number>>();
  readonly #full = new BoundedMap<Full>(MOST_FULL);

  of(identity: string): KeyLoad {
    return {
      callers: () => this.#callers.get(identity) ?? NOBODY,
      isFull: () => (this.#full.get(identity)?.until ?? 0) > now(),
      triedInVain: () => this.#triedInVain(identity),
      triedWithSuccess: () => this.#full.delete(identity),
      enter: (segment) => this.#enter(identity, segment),
    };
  }

  #enter(identity: string, segment: number): Dispose {
    this.#add(identity, segment, 1);
    let isInside = true;
    return () => {
      if (isInside) this.#add(identity, segment, -1);
      isInside = false;
    };
  }

  #triedInVain(identity: string): void {
    const before = this.#full.get(identity);
    const isRecent = before !== undefined && now() - before.until < LONGEST_FULL_MS;
    const lengthMs = isRecent ? Math.min(2 * before.lengthMs, LONGEST_FULL_MS) : FIRST_FULL_MS;
    this.#full.set(identity, { until: now() + lengthMs, lengthMs });
  }

  #add(identity: string, segment: number, change: 1 | -1): void {
    const callers = this.#callers.get(identity) ?? new Map<number, number>();
    const count = (callers.get(segment) ?? 0) + change;
    if (count > 0) callers.set(segment, count);
    else callers.delete(segment);
    // Keys come and go: what nobody is at leaves nothing behind.
    if (callers.size > 0) this.#callers.set(identity, callers);
    else this.#callers.delete(identity);
  }
}
