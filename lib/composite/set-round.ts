import { anyAbort, onAbort, OwnAbortController } from '../async/abort.js';
import type { Dispose } from '../async/abort.js';
import { LockLostError, LockRevokedError } from '../contract/errors.js';
import type { LockError } from '../contract/errors.js';
import type { Lease } from '../contract/lease.js';

const LOST_FURTHER_OUT = 'the call further out that holds it has lost it';

/**
 * One attempt to acquire every member of a set. The round is broken when a member is lost or revoked before the set has
 * all of them. That member is given back at once, and the wait for the next one ends.
 *
 * A member that a call further out holds is not the set's to give back. Its revocation changes nothing here. Its loss
 * ends the acquisition, after a revocation when the set has all its members.
 */
export class SetRound {
  /** For the acquisition of each member: aborts with the caller's reason, or when the round is broken. */
  readonly signal: AbortSignal;
  readonly #callerSignal: AbortSignal | undefined;
  readonly #outer: readonly Lease[];
  readonly #over = new OwnAbortController();
  readonly #broken = Symbol('a member was lost or revoked before the set had all of them');
  readonly #disposals: Dispose[] = [];

  /** @param outer the leases that calls further out hold */
  constructor(callerSignal: AbortSignal | undefined, outer: Iterable<Lease>) {
    this.#callerSignal = callerSignal;
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
    const lost = leases.find((lease) => !lease.isHeld());
    if (lost)
      this.#over.abort(
        lost.state === 'lost' && this.#isOuter(lost) ? new LockLostError(lost.key, LOST_FURTHER_OUT) : this.#broken,
      );
    this.end();
    this.#over.signal.throwIfAborted();
  }

  /** The error of a member that was not granted. A lease that was lost before its holder could begin breaks the round. */
  refused(error: unknown): unknown {
    const isOfLease = error instanceof LockLostError || error instanceof LockRevokedError;
    // The caller may give up by the signal of another lease.
    const isCallers = this.#callerSignal?.aborted === true && this.#callerSignal.reason === error;
    return isOfLease && !isCallers && !this.#isOfOuter(error) ? this.#broken : error;
  }

  isBrokenBy(error: unknown): boolean {
    return error === this.#broken;
  }

  /** Lets go of all signals. */
  end(): void {
    this.#disposals.splice(0).forEach((dispose) => dispose());
  }

  #isOfOuter(error: LockError): boolean {
    return this.#outer.some(
      (lease) => lease.signal.reason === error || (lease.key === error.key && lease.state === 'lost'),
    );
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
