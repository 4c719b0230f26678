import { onAbort } from '../async/abort.js';
import type { Dispose } from '../async/abort.js';
import { GrantedLease } from '../contract/granted-lease.js';
import type { Lease } from '../contract/lease.js';
import type { AcquireOptions, Lock, UsingOptions } from '../contract/lock.js';
import { HeldSegment } from './held-segment.js';
import type { SegmentPlace } from './held-segment.js';
import type { KeyLoad } from './segment-load.js';

/** The lock on one segment: the plain lock on its key, whose leases know their number. */
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
    return this.#held(lease, leave);
  }

  async tryAcquire(options?: AcquireOptions): Promise<HeldSegment | null> {
    const leave = this.#enter();
    const lease = await this.#mutex.tryAcquire(options).catch(after(leave));
    if (lease) return this.#held(lease, leave);
    leave();
    return null;
  }

  async using<T>(work: (lease: HeldSegment) => T | Promise<T>, options?: UsingOptions): Promise<T> {
    const leave = this.#enter();
    let ignore: Dispose = () => {};
    const begin = (lease: Lease) => {
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

  #held(lease: Lease, leave?: Dispose): HeldSegment {
    return new HeldSegment(lease, this.#place, leave);
  }
}

/** Work may go on for long after its lease is lost; the segment must not count as busy meanwhile. */
function onLoss(lease: Lease, leave: Dispose): Dispose {
  if (!(lease instanceof GrantedLease)) return onAbort(lease.signal, leave);
  // Without the lease's signal, which is made only when somebody asks for it.
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
