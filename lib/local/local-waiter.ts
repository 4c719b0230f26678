import type { Place } from '../async/roster.js';
import type { GrantedLease } from '../contract/granted-lease.js';
import { failureOf } from '../contract/lock-request.js';
import type { CallerRequest, GivingUpListener } from '../contract/lock-request.js';

// Small numbers take no memory of their own; milliseconds since 1970 do.
const EPOCH_MS = Date.now();

/** Who is told that a waiter gives up. */
export interface WaiterListener {
  gaveUp(waiter: LocalWaiter, reason: unknown): void;
}

/** One caller in a local line. Callers are many, so it is small. */
export class LocalWaiter implements GivingUpListener {
  readonly #sinceMs = Date.now() - EPOCH_MS;
  /** Where it stands. */
  place: Place<LocalWaiter> | undefined = undefined;
  readonly #resolve: (lease: GrantedLease) => void;
  readonly #reject: (error: unknown) => void;
  readonly #listener: WaiterListener;

  constructor(
    readonly request: CallerRequest,
    /** Grows with every caller that comes. */
    readonly number: number,
    resolve: (lease: GrantedLease) => void,
    reject: (error: unknown) => void,
    listener: WaiterListener,
  ) {
    this.#resolve = resolve;
    this.#reject = reject;
    this.#listener = listener;
  }

  /** On the wall clock. */
  get since(): Date {
    return new Date(EPOCH_MS + this.#sinceMs);
  }

  gaveUp(reason: unknown): void {
    this.#listener.gaveUp(this, reason);
  }

  granted(lease: GrantedLease): void {
    this.request.settled(lease);
    this.#resolve(lease);
  }

  failed(error: unknown): void {
    this.request.settled();
    this.#reject(failureOf(this.request, error));
  }
}
