import type { Lease, LeaseMode, LeaseState } from '../contract/lease.js';

/** A lease as a nested call sees it: the outer call's in everything, but not its to give back. */
export class EnteredLease implements Lease {
  readonly #outer: Lease;

  constructor(
    outer: Lease,
    readonly mode: LeaseMode,
  ) {
    this.#outer = outer;
  }

  get key(): string {
    return this.#outer.key;
  }

  get fencingToken(): bigint {
    return this.#outer.fencingToken;
  }

  get acquiredAt(): Date {
    return this.#outer.acquiredAt;
  }

  get state(): LeaseState {
    return this.#outer.state;
  }

  get signal(): AbortSignal {
    return this.#outer.signal;
  }

  isHeld(): boolean {
    return this.#outer.isHeld();
  }

  async release(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {}
}
