import { anyAbort, onAbort, OwnAbortController } from '../async/abort.js';
import type { Dispose } from '../async/abort.js';
import { LockLostError, LockRevokedError } from '../contract/errors.js';
import type { Lease } from '../contract/lease.js';

/**
 * One attempt to acquire every member of a set. The round is broken when a member is lost or revoked before the set has
 * all of them. That member is given back at once, and the wait for the next one ends.
 *
 * A member that a call further out holds is not the set's to give back. Its revocation changes nothing here, its loss
 * ends the acquisition.
 */
export class SetRound {
  /** For the acquisition of each member: aborts with the caller's reason, or when the round is broken. */
  readonly signal: AbortSignal;
  readonly #outer: readonly Lease[];
  readonly #over = new OwnAbortController();
  readonly #broken = Symbol('a member was lost or revoked before the set had all of them');
  readonly #disposals: Dispose[] = [];

  /** @param outer the leases that calls further out hold */
  constructor(callerSignal: AbortSignal | undefined, outer: Iterable<Lease>) {
    this.#outer = [...outer];
    const { signal, dispose } = anyAbort([callerSignal, this.#over.signal]);
    this.signal = signal;
    this.#disposals.push(dispose);
  }

  /** Watches a member until the round ends. */
  granted(lease: Lease): void {
    const ended = this.#isOuter(lease)
      ? (reason: unknown) => void (lease.isHeld() || this.#over.abort(reason))
      : () => this.#breakBy(lease);
    this.#disposals.push(onAbort(lease.signal, ended));
  }

  /** All members were granted. @throws unless every one of them still stands */
  complete(leases: readonly Lease[]): void {
    // A lease may find out only now that its time has run out.
    if (!leases.every((lease) => lease.isHeld())) this.#over.abort(this.#broken);
    this.end();
    this.#over.signal.throwIfAborted();
  }

  /** The error of a member that was not granted. A lease that was lost before its holder could begin breaks the round. */
  refused(error: unknown): unknown {
    const isOfLease = error instanceof LockLostError || error instanceof LockRevokedError;
    const isOuters = () => this.#outer.some(({ signal }) => signal.reason === error);
    return isOfLease && !isOuters() ? this.#broken : error;
  }

  isBrokenBy(error: unknown): boolean {
    return error === this.#broken;
  }

  /** Lets go of all signals. */
  end(): void {
    this.#disposals.splice(0).forEach((dispose) => dispose());
  }

  #breakBy(lease: Lease): void {
    this.#over.abort(this.#broken);
    // It is released once more with the others, and whatever is wrong with that is told there.
    lease.release().catch(() => {});
  }

  #isOuter({ key, fencingToken }: Lease): boolean {
    return this.#outer.some((outer) => outer.key === key && outer.fencingToken === fencingToken);
  }
}
