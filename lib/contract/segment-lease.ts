import type { Lease, LeaseJson } from './lease.js';
import type { AcquireOptions, UsingOptions } from './lock.js';

/** The lease on one segment of a key. Its `key` is the segment's own, and its tokens grow segment by segment. */
export interface SegmentLease extends Lease {
  /** The segment's number, from 0 on. */
  readonly segment: number;
  /** How many segments the key has for as long as this lease is held. */
  readonly segments: number;
  toJSON(): SegmentLeaseJson;
}

export interface SegmentLeaseJson extends LeaseJson {
  readonly segment: number;
  readonly segments: number;
}

export interface SegmentAcquireOptions extends AcquireOptions {
  /** With route `'hash'`, what decides the segment; with `'free'`, what decides which one is tried first. */
  readonly routeBy?: string | number | undefined;
  /**
   * The segments that may be acquired, the preferred first; for callers who know that the others are of no use to them.
   * With route `'hash'` the value decides among these.
   */
  readonly only?: readonly number[] | undefined;
}

export interface SegmentUsingOptions extends SegmentAcquireOptions, UsingOptions {}
