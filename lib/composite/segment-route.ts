/**
 * The segments that an acquisition tries, and their order. Pure functions of values, counts and a source of random
 * numbers.
 */
import { check } from '../contract/check.js';
import type { SegmentAcquireOptions, SegmentRoute } from '../contract/segment.options.js';
import { checkRouteBy, MOST_SEGMENTS } from '../contract/segment.options.js';

/** The routing options of one acquisition. */
export interface Route extends Pick<SegmentAcquireOptions, 'routeBy' | 'only'> {
  readonly route: SegmentRoute;
}

/** Returns a random number from 0 inclusive to 1 exclusive. */
export type Chance = () => number;

/** @throws LockConfigurationError that names the wrong field */
export function checkRoute({ route, routeBy, only }: Route): void {
  if (routeBy !== undefined || route === 'hash') checkRouteBy(routeBy);
  if (only !== undefined) checkOnly(only);
}

function checkOnly(only: readonly number[]): void {
  check(Array.isArray(only) && only.length > 0, 'only', only, 'an array of at least one segment');
  for (const segment of only) {
    const isSegment = Number.isInteger(segment) && segment >= 0 && segment < MOST_SEGMENTS;
    check(isSegment, 'only', segment, `segments from 0 to ${MOST_SEGMENTS - 1}`);
  }
}

/** Returns the segments that the acquisition may take, preferred first. Empty when `only` names no existing segment. */
export function candidates(route: Route, segments: number, chance: Chance = Math.random): readonly number[] {
  const allowed = route.only?.filter((segment) => segment < segments) ?? upTo(segments);
  const named = route.routeBy === undefined ? undefined : allowed[hash(route.routeBy) % allowed.length];
  if (route.route === 'hash') return named === undefined ? [] : [named];
  const others = route.only ? [...new Set(allowed)] : shuffled(allowed, chance);
  return named === undefined ? others : [named, ...others.filter((segment) => segment !== named)];
}

/** Returns the segment with the fewest callers. Equals are chosen from at random. `segments` must not be empty. */
export function leastBusy(
  segments: readonly number[],
  callers: ReadonlyMap<number, number>,
  chance: Chance = Math.random,
): number {
  const at = (segment: number) => callers.get(segment) ?? 0;
  let equals = 1;
  return segments.reduce((best, segment) => {
    if (at(segment) > at(best)) return best;
    equals = at(segment) < at(best) ? 1 : equals + 1;
    // The second of two equals is chosen with probability 1/2, the third of three with 1/3.
    return chance() * equals < 1 ? segment : best;
  });
}

/**
 * Returns a 32-bit hash of a value: FNV-1a over its UTF-8 bytes, finalized as in MurmurHash3. It is the same on every
 * machine and in every version of this package. Processes of two versions must route a value to the same segment.
 */
export function hash(value: string | number): number {
  let bits = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(String(value))) bits = Math.imul(bits ^ byte, 0x01000193);
  // Without this, the last characters, in which keys differ, would hardly affect the bits that a small modulus uses.
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

/** Returns the numbers from 0 to `count` - 1. */
export function upTo(count: number): readonly number[] {
  return Array.from({ length: count }, (_, number) => number);
}

function shuffled(numbers: readonly number[], chance: Chance): readonly number[] {
  const result: number[] = [];
  for (const number of numbers) {
    const place = Math.floor(chance() * (result.length + 1));
    result.push(result[place] ?? number);
    result[place] = number;
  }
  return result;
}
