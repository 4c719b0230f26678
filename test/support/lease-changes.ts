import { GrantedLease } from '../../lib/contract/granted-lease.js';
import type { Lease, LeaseState } from '../../lib/contract/lease.js';
import { deferred } from '../../lib/async/deferred.js';
import type { Deferred } from '../../lib/async/deferred.js';

export interface LeaseChange {
  readonly state: LeaseState;
  /** Whether the lease was held in the turn of the change. */
  readonly isHeld: boolean;
}

/** Records every change of a lease since this was made, also one that is over before a test gets its turn. */
export class LeaseChanges {
  readonly #lease: GrantedLease;
  readonly #all: LeaseChange[] = [];
  readonly #awaited = new Map<LeaseState, Deferred<LeaseChange>>();

  constructor(lease: Lease) {
    if (!(lease instanceof GrantedLease)) throw new TypeError('only a lease of a backend tells its changes');
    this.#lease = lease;
    const note = () => this.#note();
    lease.addFollower({ suspend: note, resume: note, revoke: note, lose: note });
  }

  get states(): readonly LeaseState[] {
    return this.#all.map(({ state }) => state);
  }

  /** Resolves with the first change to that state; a past change counts. */
  async first(state: LeaseState): Promise<LeaseChange> {
    const past = this.#all.find((change) => change.state === state);
    if (past) return past;
    const awaited = this.#awaited.get(state) ?? deferred<LeaseChange>();
    this.#awaited.set(state, awaited);
    return awaited.promise;
  }

  #note(): void {
    const change = { state: this.#lease.state, isHeld: this.#lease.isHeld() };
    this.#all.push(change);
    this.#awaited.get(change.state)?.resolve(change);
  }
}
