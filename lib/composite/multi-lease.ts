import { anyAbort } from '../async/abort.js';
import type { Dispose } from '../async/abort.js';
import { GrantedLease } from '../contract/granted-lease.js';
import { leaseJson } from '../contract/lease.js';
import type { Lease, LeaseJson, LeaseState } from '../contract/lease.js';
import { HeldSegment } from './held-segment.js';

// The state of a set is the worst state among its members.
const WORST_FIRST: readonly LeaseState[] = ['lost', 'released', 'revoking', 'suspended', 'held'];

/** The leases of several keys, held as one. The set is lost as soon as one member is. */
export class MultiLease implements Lease {
  readonly key: string;
  readonly mode = 'exclusive';
  readonly acquiredAt = new Date();
  readonly signal: AbortSignal;
  readonly #disposeSignal: Dispose;

  constructor(
    /** One lease per key, in the order in which they were acquired. */
    readonly leases: readonly Lease[],
    private readonly releaseAll: (leases: readonly Lease[]) => Promise<void> = releaseInReverse,
  ) {
    this.key = leases.map((lease) => lease.key).join(', ');
    const any = anyAbort(leases.map((lease) => lease.signal));
    this.signal = any.signal;
    this.#disposeSignal = any.dispose;
  }

  /**
   * The largest of the members' tokens. It grows for one and the same set of keys. For the token of a single key, use
   * `leases`.
   */
  get fencingToken(): bigint {
    return this.leases.map((lease) => lease.fencingToken).reduce((a, b) => (a > b ? a : b));
  }

  get state(): LeaseState {
    const states = this.leases.map((lease) => lease.state);
    return WORST_FIRST.find((state) => states.includes(state)) ?? 'released';
  }

  isHeld(): boolean {
    return this.leases.every((lease) => lease.isHeld());
  }

  /** @internal The leases that were granted to the set itself, without members that belong to an outer call. */
  get grants(): readonly GrantedLease[] {
    return this.leases.flatMap((lease) => (lease instanceof HeldSegment ? lease.lease : lease)).filter(isGranted);
  }

  /** @internal Unsubscribes from the members' signals. The members are not released. */
  detach(): void {
    this.#disposeSignal();
  }

  async release(): Promise<void> {
    this.detach();
    await this.releaseAll(this.leases);
  }

  /** Includes the members' own tokens, in the order of `leases`. */
  toJSON(): LeaseJson & {
    /** The members' leases, in the order of `leases`. */
    readonly leases: readonly LeaseJson[];
  } {
    return { ...leaseJson(this), leases: this.leases.map((lease) => lease.toJSON()) };
  }

  /** Releases the lease: `await using lease = …` does so at the end of the block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }
}

function isGranted(lease: Lease): lease is GrantedLease {
  return lease instanceof GrantedLease;
}

/** Releases all leases at once, for sets that were acquired at once. */
export async function releaseTogether(leases: readonly Lease[]): Promise<void> {
  await Promise.all(leases.map((lease) => lease.release()));
}

/**
 * Releases all leases, last acquired first, without waiting for one before the next is released: on a link that fails,
 * each would take its time-out. A failed release does not keep the others from being released.
 */
export async function releaseInReverse(leases: readonly Lease[]): Promise<void> {
  const released = await Promise.allSettled([...leases].reverse().map(async (lease) => lease.release()));
  const failed = released.find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}
