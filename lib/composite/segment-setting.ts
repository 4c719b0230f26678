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

/** What the parts of one segmented lock share. */
export interface SegmentSetting extends SegmentedKey, CallScope {
  readonly key: string;
  readonly route: SegmentRoute;
  /** How long callers wait unless they say, in milliseconds. */
  readonly waitMs: number;
  /** How long somebody waits who would wait for so long, in milliseconds. */
  readonly limited: (waitMs: number) => number;
  readonly count: SegmentCount;
  readonly load: KeyLoad;
  /** Tells who holds a segment. */
  readonly holdersAt: (segment: number) => HolderSource;
  /** What `using` does when a lease was lost, unless the call says. */
  readonly onLost: ResolvedAcquireOptions['onLost'] | undefined;
  /** The plain lock on a segment. */
  readonly mutexOf: (segment: number) => Lock;
  /** The same, as one of a set, which is watched as a whole. */
  readonly memberOf: (segment: number) => Lock;
}

/** The options of one call, checked. @throws LockConfigurationError that names the wrong field */
export function resolveSegmentWait(
  setting: Pick<SegmentSetting, 'waitMs' | 'onLost' | 'limited'>,
  options: UsingOptions & Placed,
): ResolvedAcquireOptions {
  const { waitMs, onLost, limited } = setting;
  const resolved = resolveAcquireOptions(options, { waitMs, onLost });
  return { ...resolved, waitMs: limited(resolved.waitMs) };
}

/** The lock on one segment of as many as there are thought to be. */
export function segmentOf(setting: SegmentSetting, segment: number, segments: number): Segment {
  return new Segment(setting.mutexOf(segment), { of: setting, segment, segments }, setting.load);
}

/** The segments that the running code holds by `using` or `withAll`. */
export function heldSegments(setting: SegmentSetting): readonly HeldSegment[] {
  const held = new Map<number, HeldSegment>();
  for (const lease of setting.heldLeases()) {
    const leases = lease instanceof MultiLease ? lease.leases : [lease];
    const own = leases.filter((one) => one instanceof HeldSegment).filter((one) => one.isOf(setting));
    own.forEach((one) => held.set(one.segment, one));
  }
  return [...held.values()];
}

/** Whether `lease` is on a grant that is among `held`: its count was confirmed then, and stands for as long. */
export function isAmong(held: readonly HeldSegment[], lease: HeldSegment): boolean {
  return held.some(({ segment, fencingToken }) => segment === lease.segment && fencingToken === lease.fencingToken);
}
