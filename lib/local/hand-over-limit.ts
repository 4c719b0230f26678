import type { Dispose } from '../async/abort.js';
import { now } from '../async/clock.js';
import { deferred } from '../async/deferred.js';
import type { Deferred } from '../async/deferred.js';
import { after } from '../async/timer.js';
import type { Demand } from '../contract/granted-lease.js';

/**
 * How long a process may hand a key on among its own callers while another process waits. Bounded by count alone, work
 * that takes 2 ms would keep the others waiting for half a second; by time alone, work that takes none would be handed
 * on thousands of times.
 */
const MOST_HAND_OVERS = 256;
const LONGEST_MS = 15;

/** Whether one contender's callers may go on, have to give way, or first have to know whether anybody else waits. */
type Bounds = 'kept' | 'in doubt' | 'reached';

/** When one contender's callers have to give way. */
export class HandOverLimit {
  readonly #demand: Demand | undefined;
  readonly #onKnown: () => void;
  readonly #since = now();
  #onWanted: () => void = () => {};
  #handOvers = 0;
  #isWanted = false;
  #isKnown = false;
  #untilKnown: Deferred<void> | undefined;
  #unwatch: Dispose | undefined;
  #cancelTimer: Dispose | undefined;

  /**
   * @param demand who else waits; without it, somebody always may
   * @param onKnown called once, when what was in doubt is known
   */
  constructor(demand: Demand | undefined, onKnown: () => void) {
    this.#demand = demand;
    this.#onKnown = onKnown;
    this.#isWanted = demand === undefined;
  }

  /** Whether another process is known to wait. */
  get isWanted(): boolean {
    return this.#isWanted;
  }

  /** Sees to it that it is known from now on; calls back when it is the case. */
  watch(onWanted: () => void): void {
    this.#onWanted = onWanted;
    this.#unwatch ??= this.#demand?.watch(
      () => {
        this.#isWanted = true;
        this.#onWanted();
        this.#known();
      },
      () => this.#known(),
    );
  }

  /** Resolves when it is known whether another process waits, or when that does not matter any more. */
  untilKnown(): Promise<void> {
    return (this.#untilKnown ??= deferred()).promise;
  }

  /** A caller of this process waits: it has to be known in time, also when nothing is handed on until then. */
  expect(): void {
    if (this.#isWanted || this.#unwatch || !this.#demand) return;
    const leftMs = Math.max(0, LONGEST_MS / 2 - (now() - this.#since));
    this.#cancelTimer ??= after(leftMs, () => this.watch(this.#onWanted));
  }

  dispose(): void {
    this.#cancelTimer?.();
    this.#unwatch?.();
    this.#untilKnown?.resolve();
  }

  handedOver(): void {
    this.#handOvers++;
  }

  /** While nobody else waits the key may be kept however long, and that is watched. */
  get state(): Bounds {
    const share = Math.max(this.#handOvers / MOST_HAND_OVERS, (now() - this.#since) / LONGEST_MS);
    // Halfway, so that it is known by the time when it matters.
    if (share >= 1 / 2 && !this.#isWanted) this.watch(this.#onWanted);
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
