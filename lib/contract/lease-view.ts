import { leaseJson } from './lease.js';
import type { Lease, LeaseJson, LeaseMode, LeaseState } from './lease.js';

/** A lease as somebody sees it: another's in everything, but for how it is given back. */
export abstract class LeaseView implements Lease {
  readonly #lease: Lease;

  constructor(
    lease: Lease,
    readonly mode: LeaseMode = lease.mode,
  ) {
    this.#lease = lease;
  }

  get key(): string {
    return this.#lease.key;
  }

  get fencingToken(): bigint {
    return this.#lease.fencingToken;
  }

  get acquiredAt(): Date {
    return this.#lease.acquiredAt;
  }

  get state(): LeaseState {
    return this.#lease.state;
  }

  get signal(): AbortSignal {
    return this.#lease.signal;
  }

  isHeld(): boolean {
    return this.#lease.isHeld();
  }

  abstract release(): Promise<void>;

  toJSON(): LeaseJson {
    return leaseJson(this);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }
}
