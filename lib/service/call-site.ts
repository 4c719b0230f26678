import { now } from '../async/clock.js';
import { PLACE } from '../contract/check.js';
import type { Site, Placed } from '../contract/check.js';
import type { HeldTarget } from './hold-watch.js';

const NO_OPTIONS = {};
/** Options without a place, marked so that the place is not captured again. */
const NOT_CAPTURED: Placed = { [PLACE]: undefined };

/** One stack entry for the caller, and some for wrappers around the LockService. */
const MOST_FRAMES = 4;

/**
 * Capturing a place takes 3 to 4 µs in a busy process, and 30 µs where the engine has done something else meanwhile. At
 * one capture in this time, that is at most 0.3 per cent of a process, however many leases there are. See
 * docs/adr/0014-where-a-lease-was-acquired.md.
 */
const PAUSE_MS = 10;

let last = -Infinity;

/**
 * Returns the options of a call with its place. The place was set by a decorator, or it is captured.
 * @param on target of the lock; if its holding time is not watched, no place is needed
 * @param lock object that the application called
 * @param verb method that it called
 */
export function placed<O extends object>(
  options: (O & Placed) | undefined,
  { holding }: Pick<HeldTarget, 'holding'>,
  lock: object,
  verb: string,
): Partial<O> & Placed {
  const given: Partial<O> & Placed = options ?? NO_OPTIONS;
  // Invalid options are rejected later. Options with a prototype are not copied: a copy would lose what they inherit.
  if (!holding || Object.getPrototypeOf(given) !== Object.prototype || PLACE in given) return given;
  if (holding.warnHeldMs === Infinity && holding.maxHeldMs === Infinity) return given;
  const place = callSite(Reflect.get(lock, verb));
  // The place comes first: a property after a spread costs the engine 2 µs.
  return place || options ? { [PLACE]: place, ...given } : (NOT_CAPTURED as Partial<O> & Placed);
}

/**
 * Captures where the application called `called`, unless a place was captured a moment ago.
 * @param called stack entries up to its call are left out
 */
function callSite(called: Function): Site | undefined {
  const time = now();
  if (time - last < PAUSE_MS) return undefined;
  last = time;
  return new CallSite(called);
}

/** A captured stack. The engine creates its text on first use. */
class CallSite implements Site {
  readonly stack: string | undefined;

  constructor(called: Function) {
    const limit = Error.stackTraceLimit;
    // An assignment would throw where intrinsics are frozen.
    Reflect.set(Error, 'stackTraceLimit', MOST_FRAMES);
    Error.captureStackTrace(this, called);
    Reflect.set(Error, 'stackTraceLimit', limit);
  }

  toString(): string {
    return siteIn(this.stack) ?? 'a place that is not known';
  }
}

/** Returns the first stack entry of application code, as far as can be told. */
function siteIn(stack: string | undefined): string | undefined {
  const frames = String(stack ?? '')
    .split('\n')
    .flatMap((line) => /^\s*at (.+)$/.exec(line)?.[1] ?? []);
  return frames.find((frame) => !/\bnode:|[\\/]node_modules[\\/]/.test(frame)) ?? frames[0];
}
