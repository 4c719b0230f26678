import type { GrantedLease } from '../contract/granted-lease.js';
import { UNLIMITED } from '../contract/acquire.options.js';
import type { ResolvedHoldingOptions } from '../contract/acquire.options.js';
import type { Place } from '../contract/check.js';

/** The parts of a lease that are needed to watch it and to end it. */
export type HeldLease = Pick<GrantedLease, 'acquiredAt' | 'state' | 'revoke' | 'lose' | 'release'>;

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
  readonly place?: Place | undefined;
}

/** A lease that is held, with the data that an operator may want to know. */
export class Held<L extends HeldLease = HeldLease> {
  constructor(
    readonly lease: L,
    readonly target: HeldTarget,
    readonly label: string | undefined,
    readonly place: Place | undefined,
  ) {}

  /** Limits on the holding time. */
  get limits(): ResolvedHoldingOptions {
    return this.target.holding ?? UNLIMITED;
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
