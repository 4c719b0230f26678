import { Delayed } from '../sessions/delayed.js';
import type { ServerClock } from '../sessions/server-clock.js';
import type { EnsembleTimes } from './ensemble-times.js';

/** One end of a link. */
export interface LinkEnd {
  /** Whether its process can be reached. */
  readonly isConnected: boolean;
  readonly isFrozen: boolean;
  /** Called when it has been without the other end for too long. */
  giveUpOn(link: Link): void;
  /** Called when the other end has left. */
  missed(link: Link): void;
}

export interface LinkEnds {
  readonly leader: LinkEnd;
  readonly follower: LinkEnd;
}

type Side = keyof LinkEnds;

const SIDES = ['leader', 'follower'] as const;

/**
 * The messages between a leader and one follower, in order in each direction, like one connection. While the ends are
 * cut off from each other, all messages wait. Each end then gives the other up after a limit of its own.
 */
export class Link {
  readonly #ends: LinkEnds;
  readonly #clock: ServerClock;
  readonly #times: EnsembleTimes;
  readonly #up: Delayed;
  readonly #down: Delayed;
  readonly #gone = new Set<Side>();
  readonly #limits = new Map<Side, () => void>();
  #isHeld = false;
  #carried = 0;

  constructor(ends: LinkEnds, clock: ServerClock, times: EnsembleTimes) {
    this.#ends = ends;
    this.#clock = clock;
    this.#times = times;
    this.#up = new Delayed(clock);
    this.#down = new Delayed(clock);
  }

  /** Whether a message that is sent now arrives. */
  get isOpen(): boolean {
    return !this.#isHeld && this.#gone.size === 0;
  }

  /** Whether both ends have left. */
  get isOver(): boolean {
    return this.#gone.size === SIDES.length;
  }

  /** Whether a message is about to arrive by itself. */
  get isCarrying(): boolean {
    return this.isOpen && this.#carried > 0;
  }

  /** Sends from the follower to the leader. */
  up(action: () => void): void {
    this.#carry(this.#up, action);
  }

  /** Sends from the leader to the follower. */
  down(action: () => void): void {
    this.#carry(this.#down, action);
  }

  /** Like `down()`, for messages that repeat for ever. */
  beat(action: () => void): void {
    if (this.#gone.size === 0) this.#down.push(action, this.#delayMs());
  }

  /** Called when the ends may have become reachable or unreachable for each other. Returns whether they have. */
  update(): boolean {
    const { leader, follower } = this.#ends;
    const isHeld = !leader.isConnected || !follower.isConnected;
    if (this.isOver || isHeld === this.#isHeld) return false;
    this.#isHeld = isHeld;
    if (isHeld) this.#hold();
    else this.#release();
    return true;
  }

  /** Starts the limit of one end anew, as when a frozen process reads its clock again. */
  awaitLimit(side: Side): void {
    this.#limits.get(side)?.();
    if (!this.#isHeld || this.#gone.has(side)) return;
    const limit = this.#clock.after(this.#times.syncLimitMs(), () => {
      // A frozen process reads no clock.
      if (!this.#ends[side].isFrozen) this.#ends[side].giveUpOn(this);
    });
    this.#limits.set(side, limit);
  }

  /** Called when one end has left. The other end is notified as soon as the link carries anything. */
  leave(side: Side): void {
    if (this.#gone.has(side)) return;
    this.#gone.add(side);
    this.#limits.get(side)?.();
    this.#down.clear();
    // Messages that a follower sent before it left still arrive, unless the link was cut at that time.
    if (this.#isHeld || !this.#gone.has('follower')) this.#up.clear();
    if (!this.#isHeld) this.#tellOther();
  }

  #hold(): void {
    this.#up.hold();
    this.#down.hold();
    for (const side of SIDES) this.awaitLimit(side);
  }

  #release(): void {
    for (const cancel of this.#limits.values()) cancel();
    if (this.#gone.size > 0) return this.#tellOther();
    this.#down.release();
    this.#up.release();
  }

  #tellOther(): void {
    for (const side of SIDES) if (!this.#gone.has(side)) this.#ends[side].missed(this);
  }

  #carry(way: Delayed, action: () => void): void {
    if (this.#gone.size > 0) return;
    this.#carried++;
    way.push(() => {
      this.#carried--;
      action();
    }, this.#delayMs());
  }

  #delayMs(): number {
    return this.#times.peerDelayMs?.() ?? 0;
  }
}
