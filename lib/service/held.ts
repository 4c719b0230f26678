import type { GrantedLease } from '../contract/granted-lease.js';
import { UNLIMITED } from '../contract/acquire.options.js';
import type { ResolvedHoldingOptions } from '../contract/acquire.options.js';
import type { Place } from '../contract/check.js';

/** What a holder has, and how it is ended. */
export type HeldLease = Pick<GrantedLease, 'acquiredAt' | 'state' | 'revoke' | 'lose' | 'release'>;

/** What a lease is on. */
export interface HeldTarget {
  /** The key as the application wrote it. */
  readonly key: string;
  /** What the log calls it, where that is more than the key. */
  readonly title?: string | undefined;
  /** For how long it may be held. Without it, nobody looks. */
  readonly holding?: ResolvedHoldingOptions | undefined;
}

/** Who said what of its acquisition. */
export interface HolderDetails {
  readonly label?: string | undefined;
  readonly place?: Place | undefined;
}

/** A lease that somebody holds, and what an operator may want to know of it. */
export class Held<L extends HeldLease = HeldLease> {
  constructor(
    readonly lease: L,
    readonly target: HeldTarget,
    readonly label: string | undefined,
    readonly place: Place | undefined,
  ) {}

  /** For how long it may be held. */
  get limits(): ResolvedHoldingOptions {
    return this.target.holding ?? UNLIMITED;
  }

  /** Whether there is nothing left that could be ended. */
  get isOver(): boolean {
    return this.lease.state === 'lost' || this.lease.state === 'released';
  }

  /** `"orders/42"`, or what it is a part of. */
  get title(): string {
    return this.target.title ?? `"${this.target.key}"`;
  }

  /** Since when, where and by whom: `since 2026-02-03T12:00:00.000Z, acquired at Orders.place`. */
  get origin(): string {
    const { label } = this;
    const site = this.place?.toString();
    const named = label === undefined || label === site ? [] : [`label "${label}"`];
    const placed = site === undefined ? [] : [`acquired at ${site}`];
    return [`since ${this.lease.acquiredAt.toISOString()}`, ...named, ...placed].join(', ');
  }
}
