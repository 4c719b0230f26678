import { Delayed } from '../sessions/delayed.js';
import type { ServerClock } from '../sessions/server-clock.js';
import type { EnsembleTimes } from './ensemble-times.js';

/** One end of a link. */
export interface LinkEnd {
  /** Whether its process can be reached. */
  readonly isConnected: boolean;
  readonly isFrozen: boolean;
  /** It has been without the other end for too long. */
  giveUpOn(link: Link): void;
  /** The other end has gone. */
  missed(link: Link): void;
}

export interface LinkEnds {
  readonly leader: LinkEnd;
  readonly follower: LinkEnd;
}

type Side = keyof LinkEnds;

const SIDES = ['leader', 'follower'] as const;

/**
 * What a leader and one follower say to each other: in order each way, as one connection. While they are cut off from
 * each other everything waits, and each gives the other up in its own time.
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

  /** Whether what is said now arrives. */
  get isOpen(): boolean {
    return !this.#isHeld && this.#gone.size === 0;
  }

  /** Whether both ends have gone. */
  get isOver(): boolean {
    return this.#gone.size === SIDES.length;
  }

  /** Whether something that was said is about to arrive by itself. */
  get isCarrying(): boolean {
    return this.isOpen && this.#carried > 0;
  }

  /** From the follower to the leader. */
  up(action: () => void): void {
    this.#carry(this.#up, action);
  }

  /** From the leader to the follower. */
  down(action: () => void): void {
    this.#carry(this.#down, action);
  }

  /** As `down()`, for what goes on for ever. */
  beat(action: () => void): void {
    if (this.#gone.size === 0) this.#down.push(action, this.#delayMs());
  }

  /** The ends can reach each other, or can not, since something has changed; answers whether that is news. */
  update(): boolean {
    const { leader, follower } = this.#ends;
    const isHeld = !leader.isConnected || !follower.isConnected;
    if (this.isOver || isHeld === this.#isHeld) return false;
    this.#isHeld = isHeld;
    if (isHeld) this.#hold();
    else this.#release();
    return true;
  }

  /** An end that was stopped looks at the time again. */
  awaitLimit(side: Side): void {
    this.#limits.get(side)?.();
    if (!this.#isHeld || this.#gone.has(side)) return;
    const limit = this.#clock.after(this.#times.syncLimitMs(), () => {
      // A process that is stopped looks at no clock.
      if (!this.#ends[side].isFrozen) this.#ends[side].giveUpOn(this);
    });
    this.#limits.set(side, limit);
  }

  /** One end has gone. The other one hears of it as soon as the link carries anything. */
  leave(side: Side): void {
    if (this.#gone.has(side)) return;
    this.#gone.add(side);
    this.#limits.get(side)?.();
    this.#down.clear();
    // What a follower has sent before it went arrives, unless it could not even leave.
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
