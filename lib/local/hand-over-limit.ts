import type { Dispose } from '../async/abort.js';
import { now } from '../async/clock.js';
import { deferred } from '../async/deferred.js';
import type { Deferred } from '../async/deferred.js';
import { after } from '../async/timer.js';
import type { Demand } from '../contract/granted-lease.js';

/**
 * Limits on hand-overs within a process while another process waits. Both limits are needed. With only the count, work
 * that takes 2 ms would block the other processes for half a second. With only the time, work that takes no time would
 * be handed over thousands of times.
 */
const MOST_HAND_OVERS = 256;
const LONGEST_MS = 15;

/**
 * The result of the limit: hand-overs may go on (`kept`), must end (`reached`), or it must first be known whether
 * another process waits (`in doubt`).
 */
type Bounds = 'kept' | 'in doubt' | 'reached';

/** Decides when the callers of one contender must release the key for another process. */
export class HandOverLimit {
  readonly #demand: Demand | undefined;
  readonly #onKnown: () => void;
  readonly #since: number;
  #onWanted: (() => void) | undefined;
  #isWanted = false;
  #isKnown = false;
  #untilKnown: Deferred<void> | undefined;
  #unwatch: Dispose | undefined;
  #cancelTimer: Dispose | undefined;

  /**
   * @param demand tells whether another contender waits; without it, one may always wait
   * @param since time at which the contender got the key
   * @param onKnown called once, when it is known whether another process waits
   */
  constructor(demand: Demand | undefined, since: number, onKnown: () => void) {
    this.#demand = demand;
    this.#since = since;
    this.#onKnown = onKnown;
    this.#isWanted = demand === undefined;
  }

  /** Whether another process is known to wait. */
  get isWanted(): boolean {
    return this.#isWanted;
  }

  /** Watches for waiting processes from now on. Calls back when one waits, or as it was asked to before. */
  watch(onWanted = this.#onWanted): void {
    this.#onWanted = onWanted;
    this.#unwatch ??= this.#demand?.watch(
      () => {
        this.#isWanted = true;
        this.#onWanted?.();
        this.#known();
      },
      () => this.#known(),
    );
  }

  /** Resolves when it is known whether another process waits, or when that no longer matters. */
  untilKnown(): Promise<void> {
    return (this.#untilKnown ??= deferred()).promise;
  }

  /** Starts the watch in time for a waiting caller of this process, even if no hand-over happens until then. */
  expect(): void {
    if (this.#isWanted || this.#unwatch || this.#cancelTimer || !this.#demand) return;
    const leftMs = Math.max(0, LONGEST_MS / 2 - (now() - this.#since));
    this.#cancelTimer = after(leftMs, () => this.watch());
  }

  dispose(): void {
    this.#cancelTimer?.();
    this.#unwatch?.();
    this.#untilKnown?.resolve();
  }

  /** Returns the present result of the limit. While no other process waits, there is no limit, and that is watched. */
  stateAfter(handOvers: number): Bounds {
    if (this.#isKnown && !this.#isWanted) return 'kept';
    const share = Math.max(handOvers / MOST_HAND_OVERS, (now() - this.#since) / LONGEST_MS);
    // Watch at half of the limit, so that the answer is there when the limit is reached.
    if (share >= 1 / 2 && !this.#isWanted) this.watch();
    if (share < 1) return 'kept';
    if (this.#isWanted) return 'reached';
    return this.#isKnown ? 'kept' : 'in doubt';
  }

  #known(): void {
    if (this.#isKnown) return;
    this.#isKnown = true;
    this.#untilKnown?.resolve();
    this.#onKnown();
  }
}
