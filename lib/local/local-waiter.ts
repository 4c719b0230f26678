import type { Place } from '../async/roster.js';
import type { GrantedLease } from '../contract/granted-lease.js';
import type { CallerRequest } from '../contract/lock-request.js';

/** One caller in a local line. Callers are many, so it is small. */
export class LocalWaiter {
  /** On the wall clock, in milliseconds. */
  readonly sinceMs = Date.now();
  /** Where it stands. */
  place: Place<LocalWaiter> | undefined = undefined;
  readonly #resolve: (lease: GrantedLease) => void;
  readonly #reject: (error: unknown) => void;

  constructor(
    readonly request: CallerRequest,
    /** Grows with every caller that comes. */
    readonly number: number,
    resolve: (lease: GrantedLease) => void,
    reject: (error: unknown) => void,
  ) {
    this.#resolve = resolve;
    this.#reject = reject;
  }

  granted(lease: GrantedLease): void {
    this.request.settled(lease);
    this.#resolve(lease);
  }

  failed(error: unknown): void {
    this.request.settled();
    this.#reject(error);
  }
}
