import type { Place } from '../async/collections.js';
import { Alarms } from '../async/timer.js';
import type { Alarm } from '../async/timer.js';
import type { MultiLease } from '../composite/multi-lease.js';
import type { ResolvedHoldingOptions } from '../contract/acquire.options.js';
import type { Site, Placed } from '../contract/check.js';
import { LockLostError, LockOverdueError } from '../contract/errors.js';
import type { LockError } from '../contract/errors.js';
import type { GrantedLease } from '../contract/granted-lease.js';
import type { LeaseState } from '../contract/lease.js';
import { now } from '../async/clock.js';
import { PLACE } from '../contract/check.js';

/** The parts of a lease that are needed to watch it and to end it. */
type HeldLease = Pick<GrantedLease, 'acquiredAt' | 'state' | 'overdue' | 'revoke' | 'lose' | 'release'>;

/** The target of a held lease. */
export interface HeldTarget {
  /** The key as the application wrote it. */
  readonly key: string;
  /** Name for the log, if it is more than the key. */
  readonly title?: string | undefined;
  /** Limits on the holding time. Without it, the lease is not watched. */
  readonly holding?: ResolvedHoldingOptions | undefined;
}

/** The label and the place of an acquisition. */
export interface HolderDetails {
  readonly label?: string | undefined;
  readonly place?: Site | undefined;
}

/** The handle that ends a watch. */
type Watch = Pick<Place<unknown>, 'leave'>;

type Warn = (message: string) => void;

/** Detects leases that are held for too long. Logs a warning, and ends leases that have a limit. */
export class HoldWatch {
  readonly #alarms = new Alarms();
  readonly #warn: Warn;

  constructor(warn: Warn) {
    this.#warn = warn;
  }

  /** Watches the lease until the returned handle is left. */
  watch(lease: HeldLease, target: HeldTarget, holder: HolderDetails): Watch | undefined {
    if (!target.holding) return undefined;
    const { warnHeldMs, maxHeldMs } = target.holding;
    const held = new HeldAlarm(lease, target, target.holding, holder, this.#warn);
    const warning = warnHeldMs === Infinity ? undefined : this.#alarms.set(warnHeldMs, held);
    if (maxHeldMs === Infinity) return warning;
    const limit = new LimitAlarm(held, this.#alarms);
    return {
      leave() {
        warning?.leave();
        return limit.leave();
      },
    };
  }

  /** Ends all watches. */
  stop(): void {
    this.#alarms.clear();
  }
}

/** A lease that is held, with the data that an operator may want to know. Warns when it has been held for long. */
class HeldAlarm implements Alarm {
  due = 0;
  readonly #label: string | undefined;
  readonly #place: Site | undefined;

  constructor(
    readonly lease: HeldLease,
    readonly target: HeldTarget,
    readonly limits: ResolvedHoldingOptions,
    { label, place }: HolderDetails,
    readonly warn: Warn,
  ) {
    this.#label = label;
    this.#place = place;
  }

  /** Whether the lease has ended, so that nothing is left to be ended. */
  get isOver(): boolean {
    return this.lease.state === 'lost' || this.lease.state === 'released';
  }

  /** The title for the log: `"orders/42"`, or the set or key that it is a part of. */
  get title(): string {
    return this.target.title ?? `"${this.target.key}"`;
  }

  /** The origin for the log: `since 2026-02-03T12:00:00.000Z, acquired at Orders.place`. */
  get origin(): string {
    const label = this.#label;
    const site = this.#place?.toString();
    const named = label === undefined || label === site ? [] : [`label "${label}"`];
    const placed = site === undefined ? [] : [`acquired at ${site}`];
    return [`since ${this.lease.acquiredAt.toISOString()}`, ...named, ...placed].join(', ');
  }

  ring(): void {
    const { warnHeldMs } = this.limits;
    if (this.isOver) return;
    this.lease.overdue('warnHeldMs', warnHeldMs);
    this.warn(
      `${this.title} has been held for ${warnHeldMs} ms (${this.origin}). ` +
        'Set a longer warnHeldMs where that is normal, or maxHeldMs to have such leases ended',
    );
  }
}

/** Ends a lease that is held for too long, in two steps: it revokes the lease, and then takes it away. */
class LimitAlarm implements Alarm {
  due = 0;
  readonly #held: HeldAlarm;
  readonly #alarms: Alarms;
  #isTold = false;
  #place: Watch;

  constructor(held: HeldAlarm, alarms: Alarms) {
    this.#held = held;
    this.#alarms = alarms;
    this.#place = alarms.set(held.limits.maxHeldMs, this);
  }

  leave(): boolean {
    return this.#place.leave();
  }

  ring(): void {
    if (this.#held.isOver) return;
    if (this.#isTold) this.#end();
    else this.#tell();
  }

  #tell(): void {
    const { lease, target, title, origin } = this.#held;
    const { maxHeldMs, overdueGraceMs } = this.#held.limits;
    this.#isTold = true;
    if (overdueGraceMs !== Infinity) this.#place = this.#alarms.set(overdueGraceMs, this);
    lease.overdue('maxHeldMs', maxHeldMs);
    lease.revoke(new LockOverdueError(target.key, maxHeldMs));
    // Last: if the logger throws, the limit still applies.
    this.#held.warn(
      `${title} has been held for its maxHeldMs of ${maxHeldMs} ms (${origin}): its holder is told to stop`,
    );
  }

  #end(): void {
    const { lease, target } = this.#held;
    const { maxHeldMs, overdueGraceMs } = this.#held.limits;
    const reason = `it was held for its maxHeldMs of ${maxHeldMs} ms, and not given back within ${overdueGraceMs} ms`;
    lease.lose(new LockLostError(target.key, reason));
    // Otherwise a lease held by `using` would be released only at the end of the work.
    void lease.release();
  }
}

/** Watches a set as one, from the moment when it is complete until it is released. */
export function watchSet(watch: HoldWatch, set: MultiLease, target: HeldTarget, holder: HolderDetails): void {
  const { grants } = set;
  // Leases of an outer call are watched there, and end with that call.
  if (grants.length === 0) return;
  const watching = watch.watch(new HeldSet(set, grants), target, holder);
  if (!watching) return;
  // Nested work that still runs may hold a key after the set is released, so the watch ends with the last lease.
  let left = grants.length;
  const releasing = () => {
    if (--left === 0) watching.leave();
  };
  const follower = { suspend() {}, resume() {}, revoke() {}, lose() {}, releasing };
  grants.forEach((lease) => lease.addFollower(follower));
}

/** The leases of a set that outer calls do not hold. */
class HeldSet implements HeldLease {
  readonly #set: MultiLease;
  readonly #grants: readonly GrantedLease[];

  constructor(set: MultiLease, grants: readonly GrantedLease[]) {
    this.#set = set;
    this.#grants = grants;
  }

  get acquiredAt(): Date {
    return this.#set.acquiredAt;
  }

  get state(): LeaseState {
    // Over only with the last of them: a lease that was lost or released early does not end the others.
    return this.#grants.find(({ state }) => state !== 'lost' && state !== 'released')?.state ?? 'released';
  }

  overdue(...limit: Parameters<GrantedLease['overdue']>): void {
    this.#grants.forEach((lease) => lease.overdue(...limit));
  }

  revoke(reason: LockError): void {
    this.#grants.forEach((lease) => lease.revoke(reason));
  }

  lose(reason: LockError): void {
    this.#grants.forEach((lease) => lease.lose(reason));
  }

  async release(): Promise<void> {
    await Promise.all(this.#grants.map((lease) => lease.release()));
  }
}

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
const CAPTURE_PAUSE_MS = 10;

let lastCaptureAt = -Infinity;

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
  if (time - lastCaptureAt < CAPTURE_PAUSE_MS) return undefined;
  lastCaptureAt = time;
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
