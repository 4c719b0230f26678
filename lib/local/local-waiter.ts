import type { GrantedLease } from '../contract/granted-lease.js';
import type { CallerRequest } from '../contract/lock-request.js';

/** One caller in a local line. */
export class LocalWaiter {
  readonly since = new Date();
  readonly granted: (lease: GrantedLease) => void;
  readonly failed: (error: unknown) => void;

  constructor(
    readonly request: CallerRequest,
    /** Grows with every caller that comes. */
    readonly number: number,
    granted: (lease: GrantedLease) => void,
    failed: (error: unknown) => void,
  ) {
    this.granted = granted;
    this.failed = failed;
  }
}
