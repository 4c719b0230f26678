import { resolveAcquireOptions } from '../contract/acquire.options.js';
import type { ResolvedAcquireOptions } from '../contract/acquire.options.js';
import type { Lock, UsingOptions } from '../contract/lock.js';
import type { Placed } from '../contract/check.js';
import type { SegmentRoute } from '../contract/segment.options.js';
import type { HolderSource } from './deadline.js';
import { HeldSegment } from './held-segment.js';
import type { SegmentedKey } from './held-segment.js';
import { MultiLease } from './multi-lease.js';
import type { CallScope } from './multi-lock.js';
import { Segment } from './segment.js';
import type { SegmentCount } from './segment-count.js';
import type { KeyLoad } from './segment.js';

/** The settings that the parts of one segmented lock share. */
export interface SegmentSetting extends SegmentedKey, CallScope {
  readonly key: string;
  readonly route: SegmentRoute;
  /** The default `waitMs` of a call, in milliseconds. */
  readonly waitMs: number;
  /** Returns the `waitMs` that applies to a call that asks for this one, in milliseconds. */
  readonly waitMsOf: (waitMs: number) => number;
  readonly count: SegmentCount;
  readonly load: KeyLoad;
  /** Returns the source of the holders of a segment. */
  readonly holdersAt: (segment: number) => HolderSource;
  /** The default reaction of `using` to a lost lease. */
  readonly onLost: ResolvedAcquireOptions['onLost'] | undefined;
  /** Returns the plain lock on a segment. */
  readonly mutexOf: (segment: number) => Lock;
  /**
   * Returns the plain lock on a segment as a member of a set. For how long it is held is watched for the set as a
   * whole.
   */
  readonly memberOf: (segment: number) => Lock;
}

/** Returns the options of one call, checked. @throws LockConfigurationError that names the wrong field */
export function resolveSegmentWait(
  setting: Pick<SegmentSetting, 'waitMs' | 'onLost' | 'waitMsOf'>,
  options: UsingOptions & Placed,
): ResolvedAcquireOptions {
  const { waitMs, onLost, waitMsOf } = setting;
  const resolved = resolveAcquireOptions(options, { waitMs, onLost });
  return { ...resolved, waitMs: waitMsOf(resolved.waitMs) };
}

/** Returns the lock on one segment, given the assumed number of segments. */
export function segmentOf(setting: SegmentSetting, segment: number, segments: number): Segment {
  return new Segment(setting.mutexOf(segment), { of: setting, segment, segments }, setting.load);
}

/** Returns the segments of this key that the calling context holds by `using` or `withAll`. */
export function heldSegments(setting: SegmentSetting): readonly HeldSegment[] {
  const held = new Map<number, HeldSegment>();
  for (const lease of setting.heldLeases()) {
    const leases = lease instanceof MultiLease ? lease.leases : [lease];
    const own = leases.filter((one) => one instanceof HeldSegment).filter((one) => one.isOf(setting));
    own.forEach((one) => held.set(one.segment, one));
  }
  return [...held.values()];
}

/**
 * Whether `lease` belongs to a grant among `held`. The count was confirmed for that grant, and is valid for as long as
 * it is held.
 */
export function isAmong(held: readonly HeldSegment[], lease: HeldSegment): boolean {
  return held.some(({ segment, fencingToken }) => segment === lease.segment && fencingToken === lease.fencingToken);
}
