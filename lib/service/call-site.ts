import { now } from '../async/clock.js';
import { PLACE } from '../contract/check.js';
import type { Place, Placed } from '../contract/check.js';
import type { HeldTarget } from './held.js';

const NO_OPTIONS = {};
/** There is no place, and nobody looks for one again. */
const NOT_CAPTURED: Placed = { [PLACE]: undefined };

/** One frame for the caller, and some for what may wrap the LockService. */
const MOST_FRAMES = 4;

/**
 * A place takes 3 to 4 µs to capture, more than a hand-over in memory. Once in this time, that is at most three per cent of a
 * process, however many leases there are; see docs/adr/0014-where-a-lease-was-acquired.md.
 */
const PAUSE_MS = 0.15;

let last = -Infinity;

/**
 * The options of a call, with the place that it comes from: a decorator has said it, or it is captured.
 * @param on what is locked; where nobody looks how long it is held, the place is of no use
 * @param lock what the application called
 * @param verb the method that it called
 */
export function placed<O extends object>(
  options: (O & Placed) | undefined,
  { holding }: Pick<HeldTarget, 'holding'>,
  lock: object,
  verb: string,
): Partial<O> & Placed {
  const given: Partial<O> & Placed = options ?? NO_OPTIONS;
  // What is no options is refused later, and a copy would not have what options inherit.
  if (!holding || !isPlain(given) || PLACE in given) return given;
  if (holding.warnHeldMs === Infinity && holding.maxHeldMs === Infinity) return given;
  const place = callSite(Reflect.get(lock, verb));
  return place || options ? { ...given, [PLACE]: place } : (NOT_CAPTURED as Partial<O> & Placed);
}

function isPlain(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/**
 * Where the function was called that the application called, unless a place was captured a moment ago.
 * @param called everything up to its call is left out
 */
function callSite(called: Function): Place | undefined {
  const time = now();
  if (time - last < PAUSE_MS) return undefined;
  last = time;
  return new CallSite(called);
}

/** A captured stack. The engine makes its text when somebody asks for it. */
class CallSite implements Place {
  readonly stack: string | undefined;

  constructor(called: Function) {
    const limit = Error.stackTraceLimit;
    // Not an assignment, which throws where intrinsics are frozen.
    Reflect.set(Error, 'stackTraceLimit', MOST_FRAMES);
    Error.captureStackTrace(this, called);
    Reflect.set(Error, 'stackTraceLimit', limit);
  }

  toString(): string {
    return siteIn(this.stack) ?? 'a place that is not known';
  }
}

/** The first line of code that is the application's, as far as can be told. */
function siteIn(stack: string | undefined): string | undefined {
  const frames = String(stack ?? '')
    .split('\n')
    .flatMap((line) => /^\s*at (.+)$/.exec(line)?.[1] ?? []);
  return frames.find((frame) => !/\bnode:|[\\/]node_modules[\\/]/.test(frame)) ?? frames[0];
}
