import type { Place } from '../async/collections.js';
import { Alarms } from '../async/timer.js';
import type { Alarm } from '../async/timer.js';
import type { MultiLease } from '../composite/multi-lease.js';
import { UNLIMITED } from '../contract/acquire.options.js';
import type { ResolvedHoldingOptions } from '../contract/acquire.options.js';
import type { Site } from '../contract/check.js';
import { LockLostError, LockOverdueError } from '../contract/errors.js';
import type { LockError } from '../contract/errors.js';
import type { GrantedLease } from '../contract/granted-lease.js';
import type { LeaseState } from '../contract/lease.js';

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

/** A lease that is held, with the data that an operator may want to know. */
export class Held<L extends HeldLease = HeldLease> {
  /** Limits on the holding time. */
  readonly limits: ResolvedHoldingOptions;

  constructor(
    readonly lease: L,
    readonly target: HeldTarget,
    readonly label: string | undefined,
    readonly place: Site | undefined,
  ) {
    this.limits = target.holding ?? UNLIMITED;
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
    const { label } = this;
    const site = this.place?.toString();
    const named = label === undefined || label === site ? [] : [`label "${label}"`];
    const placed = site === undefined ? [] : [`acquired at ${site}`];
    return [`since ${this.lease.acquiredAt.toISOString()}`, ...named, ...placed].join(', ');
  }
}

/** The handle that ends a watch. */
type Watch = Pick<Place<unknown>, 'leave'>;

/** Detects leases that are held for too long. Logs a warning, and ends leases that have a limit. */
export class HoldWatch {
  readonly #alarms = new Alarms();
  readonly #warn: (message: string) => void;

  constructor(warn: (message: string) => void) {
    this.#warn = warn;
  }

  /** Watches the lease until the returned handle is left. */
  watch(held: Held): Watch | undefined {
    const { warnHeldMs, maxHeldMs } = held.limits;
    const warning = warnHeldMs === Infinity ? undefined : this.#alarms.set(warnHeldMs, new Warning(held, this.#warn));
    if (maxHeldMs === Infinity) return warning;
    const limit = new Limit(held, this.#alarms, this.#warn);
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

class Warning implements Alarm {
  due = 0;
  readonly #held: Held;
  readonly #warn: (message: string) => void;

  constructor(held: Held, warn: (message: string) => void) {
    this.#held = held;
    this.#warn = warn;
  }

  ring(): void {
    const held = this.#held;
    if (held.isOver) return;
    held.lease.overdue('warnHeldMs', held.limits.warnHeldMs);
    this.#warn(
      `${held.title} has been held for ${held.limits.warnHeldMs} ms (${held.origin}). ` +
        'Set a longer warnHeldMs where that is normal, or maxHeldMs to have such leases ended',
    );
  }
}

/** Ends a lease that is held for too long, in two steps: it revokes the lease, and then takes it away. */
class Limit implements Alarm {
  due = 0;
  readonly #held: Held;
  readonly #alarms: Alarms;
  readonly #warn: (message: string) => void;
  #isTold = false;
  #place: Watch;

  constructor(held: Held, alarms: Alarms, warn: (message: string) => void) {
    this.#held = held;
    this.#alarms = alarms;
    this.#warn = warn;
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
    this.#warn(`${title} has been held for its maxHeldMs of ${maxHeldMs} ms (${origin}): its holder is told to stop`);
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
  const watching = watch.watch(new Held(new HeldSet(set, grants), target, holder.label, holder.place));
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
