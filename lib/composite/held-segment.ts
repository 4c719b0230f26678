import { onAbort } from '../async/abort.js';
import type { Dispose } from '../async/abort.js';
import type { Lease } from '../contract/lease.js';
import { LeaseView } from '../contract/lease.js';
import type { SegmentLease, SegmentLeaseJson } from '../contract/segment.options.js';

/** What identifies a segmented key in this process: the backend that grants it and the name that the backend gives it. */
export interface SegmentedKey {
  readonly scope: object;
  readonly identity: string;
}

/** Which segment of which key, under a count that may be out of date. */
export interface SegmentPlace {
  readonly of: SegmentedKey;
  readonly segment: number;
  readonly segments: number;
}

/** A lease that knows which segment it is on: the segment's own in everything else. */
export class HeldSegment extends LeaseView implements SegmentLease {
  /** @internal The plain lease on the segment. */
  readonly lease: Lease;
  readonly #place: SegmentPlace;
  readonly #end: Dispose;

  /** @param leave called once the lease is over, released or lost */
  constructor(lease: Lease, place: SegmentPlace, leave?: Dispose) {
    super(lease);
    this.lease = lease;
    this.#place = place;
    this.#end = leave ? endOf(lease, leave) : () => {};
  }

  get segment(): number {
    return this.#place.segment;
  }

  get segments(): number {
    return this.#place.segments;
  }

  /** Whether it is a segment of this key. */
  isOf({ scope, identity }: SegmentedKey): boolean {
    const { of } = this.#place;
    return of.scope === scope && of.identity === identity;
  }

  /** Whether it was granted there, and stands. */
  isOn(scope: object): boolean {
    return this.#place.of.scope === scope && this.isHeld();
  }

  override toJSON(): SegmentLeaseJson {
    return { ...super.toJSON(), segment: this.segment, segments: this.segments };
  }

  async release(): Promise<void> {
    await this.lease.release();
    this.#end();
  }
}

function endOf(lease: Lease, leave: Dispose): Dispose {
  const dispose = onAbort(lease.signal, leave);
  return () => {
    dispose();
    leave();
  };
}
