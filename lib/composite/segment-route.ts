/** Where an acquisition goes, and in which order. Pure: values, counts and a source of chance in, numbers out. */
import { check } from '../contract/check.js';
import type { SegmentAcquireOptions, SegmentRoute } from '../contract/segment.options.js';
import { checkRouteBy, MOST_SEGMENTS } from '../contract/segment.options.js';

/** What one acquisition says about where it wants to go. */
export interface Route extends Pick<SegmentAcquireOptions, 'routeBy' | 'only'> {
  readonly route: SegmentRoute;
}

/** From 0 inclusive to 1 exclusive. */
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

/** The segments that the acquisition may take, the preferred first. Empty when `only` names none that there are. */
export function candidates(route: Route, segments: number, chance: Chance = Math.random): readonly number[] {
  const allowed = route.only?.filter((segment) => segment < segments) ?? upTo(segments);
  const named = route.routeBy === undefined ? undefined : allowed[hash(route.routeBy) % allowed.length];
  if (route.route === 'hash') return named === undefined ? [] : [named];
  const others = route.only ? [...new Set(allowed)] : shuffled(allowed, chance);
  return named === undefined ? others : [named, ...others.filter((segment) => segment !== named)];
}

/** The one of at least one with the fewest callers; among equals, chance decides. */
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
    // The second of two takes the place with one chance in two, the third of three with one in three.
    return chance() * equals < 1 ? segment : best;
  });
}

/**
 * A value as 32 bits: FNV-1a over its UTF-8 bytes, stirred as MurmurHash3 ends. The same on every machine and in every
 * version of this package: processes of two versions must send a value to one segment.
 */
export function hash(value: string | number): number {
  let bits = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(String(value))) bits = Math.imul(bits ^ byte, 0x01000193);
  // Without this the last characters, in which keys differ, would hardly reach the bits that a small modulus looks at.
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

/** 0 to `count` - 1. */
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
