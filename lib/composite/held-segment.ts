import { onAbort } from '../async/abort.js';
import type { Dispose } from '../async/abort.js';
import type { Lease } from '../contract/lease.js';
import { LeaseView } from '../contract/lease.js';
import type { SegmentLease, SegmentLeaseJson } from '../contract/segment.options.js';

/** The identity of a segmented key in this process: the backend that grants it, and the backend's name for it. */
export interface SegmentedKey {
  readonly scope: object;
  readonly identity: string;
}

/** A segment of a key, under a count that may be out of date. */
export interface SegmentPlace {
  readonly of: SegmentedKey;
  readonly segment: number;
  readonly segments: number;
}

/** A lease with its segment number. In everything else it behaves as the plain lease on the segment. */
export class HeldSegment extends LeaseView implements SegmentLease {
  /** @internal The plain lease on the segment. */
  readonly lease: Lease;
  readonly #place: SegmentPlace;
  readonly #end: Dispose;

  /** @param leave called when the lease has been released or lost */
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

  /** Whether the segment belongs to this key. */
  isOf({ scope, identity }: SegmentedKey): boolean {
    const { of } = this.#place;
    return of.scope === scope && of.identity === identity;
  }

  /** Whether this backend granted the lease, and it is still held. */
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
