import { OwnAbortController } from '../async/abort.js';
import type { Place } from '../async/collections.js';
import type { GrantedLease } from '../contract/granted-lease.js';
import type { LockBackend } from '../contract/lock-backend.js';
import { failureOf, requestOf } from '../contract/lock-request.js';
import type { CallerRequest, GivingUpListener, LockRequest } from '../contract/lock-request.js';

/** The part of a backend that a local queue needs. */
export type GrantingBackend = Pick<LockBackend, 'acquire' | 'explain' | 'state'>;

/** Callback of a waiting caller to its local queue. */
export interface WaiterListener {
  /** Called once, when the caller gives up. */
  gaveUp(waiter: Waiter, reason: unknown): void;
}

// The offset keeps numbers small: small numbers take no memory of their own, milliseconds since 1970 do.
const EPOCH_MS = Date.now();

/** One caller that waits in a local queue. There are many callers, so it is small. */
export class Waiter implements GivingUpListener {
  readonly #sinceMs = Date.now() - EPOCH_MS;
  place: Place<Waiter> | undefined = undefined;

  /** @param number grows with every caller that arrives */
  constructor(
    readonly request: CallerRequest,
    readonly number: number,
    private readonly listener: WaiterListener,
    readonly resolve: (lease: GrantedLease) => void,
    private readonly reject: (error: unknown) => void,
  ) {}

  /** The time of arrival, by the wall clock. */
  get since(): Date {
    return new Date(EPOCH_MS + this.#sinceMs);
  }

  gaveUp(reason: unknown): void {
    this.listener.gaveUp(this, reason);
  }

  fail(error: unknown): void {
    const failure = failureOf(this.request, error);
    this.request.settled(undefined, failure);
    this.reject(failure);
  }
}

/** A pending request for a lease, on behalf of all callers that wait in the local queue. */
export class PendingAcquisition {
  readonly request: LockRequest;
  /**
   * The number of the last caller at the time of the request. Its failure is reported to the callers up to this number.
   */
  readonly lastNumber: number;
  /** Callers that gave up when no other caller waited. Their waits end when the contender has left the queue. */
  readonly abandonedBy: Waiter[] = [];
  readonly #abort = new OwnAbortController();

  constructor(first: CallerRequest, lastNumber: number) {
    this.request = requestOf(first, this.#abort.signal);
    this.lastNumber = lastNumber;
  }

  /** Leaves the queue. The request then rejects with `reason`. */
  abandon(by: Waiter, reason: unknown): void {
    this.abandonedBy.push(by);
    this.#abort.abort(reason);
  }
}
