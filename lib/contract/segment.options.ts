import { HOLDING_FIELDS, pickHolding } from './acquire.options.js';
import type { HoldingOptions } from './acquire.options.js';
import { check, checkFields } from './check.js';
import { LockConfigurationError } from './errors.js';
import type { Lease, LeaseJson } from './lease.js';
import type { AcquireOptions, UsingOptions } from './lock.js';

/**
 * The ways to choose the segment of an acquisition:
 * - `free`: any segment that is free.
 * - `hash`: the segment that the hash of a value selects, so that equal values never run at the same time.
 */
export type SegmentRoute = 'free' | 'hash';

/** The options of a segmented lock. */
export interface SegmentOptions extends HoldingOptions {
  /**
   * The number of segments of the key, 1 to 1,024, if none is recorded. It is recorded beside the lock. From then on
   * the recorded number applies, and `resize` changes it.
   */
  readonly segments: number;
  /** The route: `'free'` (default), or `'hash'`. With `'hash'`, every acquisition needs `routeBy`. */
  readonly route?: SegmentRoute | undefined;
}

/** The maximum number of segments. Their numbers have four digits, and more segments bring no benefit. */
export const MOST_SEGMENTS = 1_024;

const DEFAULTS = Object.freeze({ route: 'free' } as const);

const FIELDS = ['segments', 'route', ...HOLDING_FIELDS];

/** The options with their defaults filled in, except those that the connection decides. */
type ResolvedSegmentOptions = Required<Pick<SegmentOptions, 'segments' | 'route'>> & HoldingOptions;

/**
 * Merges the options with the defaults and checks them.
 * @param prefix start of the messages, to say where the options are
 * @throws LockConfigurationError that names the wrong field
 */
export function resolveSegmentOptions(options: SegmentOptions, prefix = ''): ResolvedSegmentOptions {
  checkFields(`${prefix}segment options`, options, FIELDS);
  const { segments, route = DEFAULTS.route } = options;
  checkSegments(segments, prefix);
  check(route === 'free' || route === 'hash', `${prefix}route`, route, "'free' or 'hash'");
  return { segments, route, ...pickHolding(options) };
}

/**
 * @throws LockConfigurationError for an absolute path: the segments of a key are beside the backend's own data of the
 *   key
 */
export function checkSegmentedKey(key: string, field = 'a key'): void {
  if (!key.startsWith('/')) return;
  throw new LockConfigurationError(`${field} with segments must not be an absolute path, got "${key}"`, { key });
}

/** @throws LockConfigurationError if it is not a valid number of segments */
export function checkSegments(segments: number, prefix = ''): void {
  const isCount = Number.isInteger(segments) && segments >= 1 && segments <= MOST_SEGMENTS;
  check(isCount, `${prefix}segments`, segments, `a whole number from 1 to ${MOST_SEGMENTS}`);
}

/** @throws LockConfigurationError if it is not a valid value to route by */
export function checkRouteBy(routeBy: unknown, prefix = ''): asserts routeBy is string | number {
  const isValue = typeof routeBy === 'string' || Number.isFinite(routeBy);
  check(isValue, `${prefix}routeBy`, routeBy, 'a string or a finite number');
}

const SEGMENT_KEY = /^(?<key>.+)\/#(?<number>\d{4})$/s;

interface KeySegment {
  readonly key: string;
  /** The number in four digits. */
  readonly number: string;
}

/** Returns the key of a segment, such as `stock/#0007`. Four digits sort the keys in the order of the numbers. */
export function segmentKey(key: string, segment: number): string {
  return `${key}/#${String(segment).padStart(4, '0')}`;
}

/** Parses the key of a segment. `undefined` if the text is not one. */
export function segmentOfKey(text: string): KeySegment | undefined {
  const { key, number } = SEGMENT_KEY.exec(text)?.groups ?? {};
  if (key === undefined || number === undefined || key.startsWith('/')) return undefined;
  return Number(number) < MOST_SEGMENTS ? { key, number } : undefined;
}

/**
 * The lease on one segment of a key. Its `key` is the segment's own key. Its tokens grow for each segment separately.
 */
export interface SegmentLease extends Lease {
  /** The segment's number, starting at 0. */
  readonly segment: number;
  /** The number of segments of the key for as long as this lease is held. */
  readonly segments: number;
  toJSON(): SegmentLeaseJson;
}

/** A lease on a segment at one instant, as data. */
export interface SegmentLeaseJson extends LeaseJson {
  /** The segment's number, starting at 0. */
  readonly segment: number;
  /** The number of segments of the key. */
  readonly segments: number;
}

/** The options of one acquisition of a segment. */
export interface SegmentAcquireOptions extends AcquireOptions {
  /**
   * With route `'hash'`, the value that selects the segment. With `'free'`, the value that selects which segment is
   * tried first.
   */
  readonly routeBy?: string | number | undefined;
  /**
   * The segments that may be acquired, the preferred first, for callers that know that the others are useless to them.
   * With route `'hash'` the value selects among these.
   */
  readonly only?: readonly number[] | undefined;
}

/** The options of `using` of a segmented lock. */
export interface SegmentUsingOptions extends SegmentAcquireOptions, UsingOptions {}
