import type { MultiLease } from '../composite/multi-lease.js';
import type { LockError } from '../contract/errors.js';
import type { GrantedLease } from '../contract/granted-lease.js';
import type { LeaseState } from '../contract/lease.js';
import { Held } from './held.js';
import type { HeldLease, HeldTarget, HolderDetails } from './held.js';
import type { HoldWatch } from './hold-watch.js';

/** Watches a set as one, from the moment when it is complete until it is given back. */
export function watchSet(watch: HoldWatch, set: MultiLease, target: HeldTarget, holder: HolderDetails): void {
  const { grants } = set;
  // What a call further out holds is watched there, and ends with that.
  if (grants.length === 0) return;
  const watching = watch.watch(new Held(new HeldSet(set, grants), target, holder.label, holder.place));
  if (!watching) return;
  // Work that is left inside keeps a key for longer than the set is in use.
  let left = grants.length;
  const releasing = () => {
    if (--left === 0) watching.leave();
  };
  const follower = { suspend() {}, resume() {}, revoke() {}, lose() {}, releasing };
  grants.forEach((lease) => lease.addFollower(follower));
}

/** What a set holds that calls further out do not. */
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
    // Over only with the last of them: one that was lost, or given back early, leaves the others held.
    return this.#grants.find(({ state }) => state !== 'lost' && state !== 'released')?.state ?? 'released';
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
