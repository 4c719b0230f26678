import { LockLostError, LockShutdownError } from '../contract/errors.js';
import type { LockError } from '../contract/errors.js';
import type { GrantedLease } from '../contract/granted-lease.js';
import { leasesText } from './lease-text.js';

/** Says which leases are lost, and why: one line for all that are lost together. What a shutdown ends is not lost. */
export class LostLeases {
  readonly #warn: (message: string) => void;
  #lost = new Map<string, GrantedLease[]>();

  constructor(warn: (message: string) => void) {
    this.#warn = warn;
  }

  add(lease: GrantedLease, error: LockError): void {
    if (error instanceof LockShutdownError) return;
    const reason = error instanceof LockLostError ? error.reason : error.message;
    // A session loses its leases in one turn.
    if (this.#lost.size === 0) queueMicrotask(() => this.#tell());
    const others = this.#lost.get(reason);
    if (others) others.push(lease);
    else this.#lost.set(reason, [lease]);
  }

  #tell(): void {
    const lost = this.#lost;
    this.#lost = new Map();
    for (const [reason, leases] of lost) {
      this.#warn(`lost ${leasesText(leases)}. Reason: ${reason}. Other processes may be granted these keys`);
    }
  }
}
