import { HOLDING_FIELDS, pickHolding } from './acquire.options.js';
import type { HoldingOptions } from './acquire.options.js';
import { check, checkFields } from './check.js';
import { LockConfigurationError } from './errors.js';
import type { Lease, LeaseJson } from './lease.js';
import type { AcquireOptions, UsingOptions } from './lock.js';

/**
 * Which segment an acquisition goes for: any that is `'free'`, or the one that the `'hash'` of a value names, so that
 * equal values never run at the same time.
 */
export type SegmentRoute = 'free' | 'hash';

export interface SegmentOptions extends HoldingOptions {
  /**
   * Into how many segments the key is split, 1 to 1,024, when nobody has said so before. It is recorded beside the lock;
   * from then on the recorded count rules, and `resize` changes it.
   */
  readonly segments: number;
  /** `'free'` (default), or `'hash'`: every acquisition then needs `routeBy`. */
  readonly route?: SegmentRoute | undefined;
}

/** Their numbers have four places, and nobody gains from more. */
export const MOST_SEGMENTS = 1_024;

const DEFAULTS = Object.freeze({ route: 'free' } as const);

const FIELDS = ['segments', 'route', ...HOLDING_FIELDS];

/** Every option with its default filled in, but for those that the connection decides. */
type ResolvedSegmentOptions = Required<Pick<SegmentOptions, 'segments' | 'route'>> & HoldingOptions;

/**
 * Merges with the defaults and checks.
 * @param prefix what messages begin with, to say where the options stand
 * @throws LockConfigurationError that names the wrong field
 */
export function resolveSegmentOptions(options: SegmentOptions, prefix = ''): ResolvedSegmentOptions {
  checkFields(`${prefix}segment options`, options, FIELDS);
  const { segments, route = DEFAULTS.route } = options;
  checkSegments(segments, prefix);
  check(route === 'free' || route === 'hash', `${prefix}route`, route, "'free' or 'hash'");
  return { segments, route, ...pickHolding(options) };
}

/** @throws LockConfigurationError for an absolute path: the segments of a key are beside what the backend keeps of it */
export function checkSegmentedKey(key: string, field = 'a key'): void {
  if (!key.startsWith('/')) return;
  throw new LockConfigurationError(`${field} with segments must not be an absolute path, got "${key}"`, { key });
}

/** @throws LockConfigurationError for what is no count of segments */
export function checkSegments(segments: number, prefix = ''): void {
  const isCount = Number.isInteger(segments) && segments >= 1 && segments <= MOST_SEGMENTS;
  check(isCount, `${prefix}segments`, segments, `a whole number from 1 to ${MOST_SEGMENTS}`);
}

/** @throws LockConfigurationError for what nobody can be routed by */
export function checkRouteBy(routeBy: unknown, prefix = ''): asserts routeBy is string | number {
  const isValue = typeof routeBy === 'string' || Number.isFinite(routeBy);
  check(isValue, `${prefix}routeBy`, routeBy, 'a string or a finite number');
}

const SEGMENT_KEY = /^(?<key>.+)\/#(?<number>\d{4})$/s;

/** One segment of a key. */
interface KeySegment {
  readonly key: string;
  /** In four places. */
  readonly number: string;
}

/** The key of a segment, such as `stock/#0007`; in four places, so that the order of the keys is that of the numbers. */
export function segmentKey(key: string, segment: number): string {
  return `${key}/#${String(segment).padStart(4, '0')}`;
}

/** Of which key this is the key of a segment; `undefined` where it is not. */
export function segmentOfKey(text: string): KeySegment | undefined {
  const { key, number } = SEGMENT_KEY.exec(text)?.groups ?? {};
  if (key === undefined || number === undefined || key.startsWith('/')) return undefined;
  return Number(number) < MOST_SEGMENTS ? { key, number } : undefined;
}

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
