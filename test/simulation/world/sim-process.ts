import type { Random } from '../../robustness/random.js';
import type { ProcessClock } from './process-clock.js';
import { Timers } from './timers.js';
import type { World } from './world.js';

const MOST_TIMER_DELAY_US = 1_000;

export type Callback = () => void;

/**
 * One Node process: its clock, its timers, its arrived data, and its event loop with Node's phases. Its code runs only
 * in its turns. A turn is one round of the loop: due timers, then arrived data, then immediates.
 */
export class SimProcess {
  readonly name: string;
  readonly clock: ProcessClock;
  readonly timers: Timers;
  readonly random: Random;
  /** Called with exceptions that its code does not catch. Without it, the run of the world fails. */
  uncaught: ((error: unknown) => void) | undefined;
  readonly #world: World;
  readonly #callbackUs: number;
  #arrived: Callback[] = [];
  #immediates = new Set<Callback>();
  #round: Round | undefined;
  /** The time of its next turn. An older event, which was planned for a later time, does nothing. */
  #nextTurnAt = Infinity;
  #nextTurn = 0;
  #stoppedUntil = 0;
  #suspendedUntil = 0;
  #ranCallbacks = 0;
  #isDead = false;

  /** @param callbackUs how long each callback keeps the process busy, in microseconds */
  constructor(world: World, name: string, clock: ProcessClock, random: Random, callbackUs: number) {
    this.#world = world;
    this.name = name;
    this.clock = clock;
    this.random = random;
    this.#callbackUs = callbackUs;
    this.timers = new Timers(
      () => this.#loopMs,
      () => this.#awaitTimers(),
    );
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  get isStopped(): boolean {
    return this.#world.now < this.#stoppedUntil;
  }

  /** `performance.now()`. */
  get nowMs(): number {
    return this.clock.monotonicMs(this.#world.now);
  }

  get wallMs(): number {
    return this.clock.wallMs(this.#world.now);
  }

  /** Data has arrived for the process: the callback runs in the next turn. */
  deliver(callback: Callback): void {
    if (this.#isDead) return;
    this.#arrived.push(callback);
    this.#wakeAt(this.#world.now);
  }

  setImmediate(callback: Callback): Callback {
    // A separate object, because the same function may be set twice.
    const immediate = () => callback();
    this.#immediates.add(immediate);
    if (!this.#round) this.#wakeAt(this.#world.now);
    return immediate;
  }

  clearImmediate(immediate: Callback): void {
    this.#immediates.delete(immediate);
  }

  /** The process does not run for so long: it is stopped, or busy. Its clocks continue. */
  stop(us: number): void {
    this.#stoppedUntil = Math.max(this.#stoppedUntil, this.#world.now + us);
    this.#rearm();
  }

  /** The machine sleeps for so long: the process does not run, and its monotonic clock stands still. */
  suspend(us: number): void {
    const from = Math.max(this.#world.now, this.#suspendedUntil);
    const until = this.#world.now + us;
    if (until <= from) return;
    this.#suspendedUntil = until;
    // Planned before any action of the process at that moment, which must see the clock that stood still.
    this.#world.at(Math.max(this.#stoppedUntil, until), () => {
      this.clock.suspended(until - from);
      this.#rearm();
    });
    this.stop(us);
  }

  /** Nothing of the process runs any more. */
  kill(): void {
    this.#isDead = true;
    this.#arrived = [];
    this.#immediates.clear();
  }

  /** Runs the next callback of the current turn. Returns `false` if the turn is over. */
  runNext(): boolean {
    const round = this.#round;
    if (!round || this.#isDead) return this.#endTurn();
    if (this.timers.runFirst(round.loopMs)) return this.#ran();
    const arrived = round.arrived.shift();
    if (arrived) {
      arrived();
      return this.#ran();
    }
    round.immediates ??= [...this.#immediates];
    for (let next = round.immediates.shift(); next; next = round.immediates.shift()) {
      if (!this.#immediates.delete(next)) continue;
      next();
      return this.#ran();
    }
    return this.#endTurn();
  }

  get #loopMs(): number {
    return this.#round?.loopMs ?? Math.floor(this.nowMs);
  }

  #ran(): true {
    this.#ranCallbacks++;
    return true;
  }

  #endTurn(): false {
    this.#round = undefined;
    if (this.#isDead) return false;
    this.#stoppedUntil = Math.max(this.#stoppedUntil, this.#world.now + this.#ranCallbacks * this.#callbackUs);
    this.#ranCallbacks = 0;
    this.#rearm();
    return false;
  }

  #rearm(): void {
    this.#nextTurnAt = Infinity;
    if (this.#isDead) return;
    if (this.#arrived.length > 0 || this.#immediates.size > 0) this.#wakeAt(this.#world.now);
    this.#awaitTimers();
  }

  /** Timers are late at random. All timers that are due by then run, so their order is kept. */
  #awaitTimers(): void {
    const dueMs = this.timers.nextDueMs;
    if (dueMs === undefined || this.#round) return;
    const at = this.clock.worldUsAt(dueMs);
    if (at < this.#nextTurnAt) this.#wakeAt(at + this.random.int(0, MOST_TIMER_DELAY_US));
  }

  #wakeAt(time: number): void {
    const at = Math.max(time, this.#stoppedUntil, this.#world.now);
    if (at >= this.#nextTurnAt || this.#round) return;
    this.#nextTurnAt = at;
    const turn = ++this.#nextTurn;
    this.#world.at(at, () => {
      if (turn === this.#nextTurn && this.#nextTurnAt !== Infinity) this.#beginTurn();
    });
  }

  #beginTurn(): void {
    this.#nextTurnAt = Infinity;
    if (this.#isDead) return;
    if (this.isStopped) return this.#rearm();
    this.#round = { loopMs: Math.floor(this.nowMs), arrived: this.#arrived, immediates: undefined };
    this.#arrived = [];
    this.#world.beginTurn(this);
  }
}

interface Round {
  readonly loopMs: number;
  readonly arrived: Callback[];
  /** The immediates that were set before this phase of the turn began. */
  immediates: Callback[] | undefined;
}
