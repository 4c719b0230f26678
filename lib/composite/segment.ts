import { onAbort } from '../async/abort.js';
import type { Dispose } from '../async/abort.js';
import { now } from '../async/clock.js';
import { BoundedMap } from '../async/collections.js';
import { GrantedLease } from '../contract/granted-lease.js';
import type { Lease } from '../contract/lease.js';
import type { AcquireOptions, Lock, UsingOptions } from '../contract/lock.js';
import { HeldSegment } from './held-segment.js';
import type { SegmentPlace } from './held-segment.js';

/** The lock on one segment: the plain lock on the segment's key, with leases that carry the segment number. */
export class Segment implements Lock {
  readonly #mutex: Lock;
  readonly #place: SegmentPlace;
  readonly #load: KeyLoad;

  constructor(mutex: Lock, place: SegmentPlace, load: KeyLoad) {
    this.#mutex = mutex;
    this.#place = place;
    this.#load = load;
  }

  async acquire(options?: AcquireOptions): Promise<HeldSegment> {
    const leave = this.#enter();
    const lease = await this.#mutex.acquire(options).catch(after(leave));
    return this.#held(lease, this.#hold(leave));
  }

  async tryAcquire(options?: AcquireOptions): Promise<HeldSegment | null> {
    const leave = this.#enter();
    const lease = await this.#mutex.tryAcquire(options).catch(after(leave));
    if (lease) return this.#held(lease, this.#hold(leave));
    leave();
    return null;
  }

  async using<T>(work: (lease: HeldSegment) => T | Promise<T>, options?: UsingOptions): Promise<T> {
    let leave = this.#enter();
    let ignore: Dispose = () => {};
    const begin = (lease: Lease) => {
      leave = this.#hold(leave);
      ignore = onLoss(lease, leave);
      return work(this.#held(lease));
    };
    try {
      return await this.#mutex.using(begin, options);
    } finally {
      ignore();
      leave();
    }
  }

  #enter(): Dispose {
    return this.#load.enter(this.#place.segment);
  }

  /** Counts a caller that has entered as a holder, too. */
  #hold(leave: Dispose): Dispose {
    const letGo = this.#load.hold(this.#place.segment);
    return () => {
      letGo();
      leave();
    };
  }

  #held(lease: Lease, leave?: Dispose): HeldSegment {
    return new HeldSegment(lease, this.#place, leave);
  }
}

/**
 * Calls `leave` when the lease is lost. Work may continue long after that. The segment must not count as busy
 * meanwhile.
 */
function onLoss(lease: Lease, leave: Dispose): Dispose {
  if (!(lease instanceof GrantedLease)) return onAbort(lease.signal, leave);
  // A follower does not need the lease's signal, which is created only on first use.
  const follower = { suspend() {}, resume() {}, revoke() {}, lose: leave };
  lease.addFollower(follower);
  return () => lease.removeFollower(follower);
}

function after(leave: Dispose): (error: unknown) => never {
  return (error) => {
    leave();
    throw error;
  };
}

const NOBODY: ReadonlyMap<number, number> = new Map();
const MOST_FULL = 10_000;
// The first is longer than a round of tries. The longest bounds for how long free segments can be overlooked.
const FIRST_FULL_MS = 50;
const LONGEST_FULL_MS = 1_000;

/** A period in which a key is not to be tried. */
interface Full {
  readonly until: number;
  readonly lengthMs: number;
}

/** The load on the segments of one key, as far as this process knows it. */
export interface KeyLoad {
  /**
   * The callers of this process at each segment, which hold it or wait for it. A segment without callers has no entry.
   */
  callers(): ReadonlyMap<number, number>;
  /**
   * Whether callers of this process have just tried in vain. The period that counts as "just" doubles with each vain
   * try.
   */
  isFull(): boolean;
  triedInVain(): void;
  triedWithSuccess(): void;
  /** Counts one caller at the segment, until the returned function is called. */
  enter(segment: number): Dispose;
  /** Whether a caller of this process holds the segment. Other callers wait for it, or only try. */
  isHeld(segment: number): boolean;
  /** Counts one holder of the segment, until the returned function is called. */
  hold(segment: number): Dispose;
}

/**
 * The load on segments, as far as this process knows it without a request. These are hints that safety does not depend
 * on.
 */
export class SegmentLoad {
  readonly #callers: Counts = new Map();
  readonly #holders: Counts = new Map();
  readonly #full = new BoundedMap<Full>(MOST_FULL);

  of(identity: string): KeyLoad {
    return {
      callers: () => this.#callers.get(identity) ?? NOBODY,
      isFull: () => (this.#full.get(identity)?.until ?? 0) > now(),
      triedInVain: () => this.#triedInVain(identity),
      triedWithSuccess: () => this.#full.delete(identity),
      enter: (segment) => counted(this.#callers, identity, segment),
      isHeld: (segment) => this.#holders.get(identity)?.has(segment) ?? false,
      hold: (segment) => counted(this.#holders, identity, segment),
    };
  }

  #triedInVain(identity: string): void {
    const before = this.#full.get(identity);
    const isRecent = before !== undefined && now() - before.until < LONGEST_FULL_MS;
    const lengthMs = isRecent ? Math.min(2 * before.lengthMs, LONGEST_FULL_MS) : FIRST_FULL_MS;
    this.#full.set(identity, { until: now() + lengthMs, lengthMs });
  }
}

/** The number of callers at each segment of each key. */
type Counts = Map<string, Map<number, number>>;

/** Counts one more at the segment, until the returned function is called. */
function counted(counts: Counts, identity: string, segment: number): Dispose {
  add(counts, identity, segment, 1);
  let isInside = true;
  return () => {
    if (isInside) add(counts, identity, segment, -1);
    isInside = false;
  };
}

function add(counts: Counts, identity: string, segment: number, change: 1 | -1): void {
  const ofKey = counts.get(identity) ?? new Map<number, number>();
  const count = (ofKey.get(segment) ?? 0) + change;
  if (count > 0) ofKey.set(segment, count);
  else ofKey.delete(segment);
  // Keys that are no longer used must leave no entry behind.
  if (ofKey.size > 0) counts.set(identity, ofKey);
  else counts.delete(identity);
}
