import { LinkedList } from '../async/collections.js';
import type { Place } from '../async/collections.js';
import type { GrantedLease } from '../contract/granted-lease.js';
import type { LockBackend } from '../contract/lock-backend.js';
import { failureOf } from '../contract/lock-request.js';
import type { CallerRequest, GivingUpListener } from '../contract/lock-request.js';
import type { Holder, SharedLease } from './shared-lease.js';

/** The callers that wait in a local queue, in the order of their arrival. */
export class WaitingCallers implements Iterable<LocalWaiter> {
  readonly #backend: Pick<LockBackend, 'explain'>;
  readonly #waiters = new LinkedList<LocalWaiter>();
  readonly #listener: WaiterListener;
  #lastNumber = 0;

  constructor(backend: Pick<LockBackend, 'explain'>, listener: WaiterListener) {
    this.#backend = backend;
    this.#listener = listener;
  }

  get size(): number {
    return this.#waiters.size;
  }

  get first(): LocalWaiter | undefined {
    return this.#waiters.first;
  }

  /** The number of the caller that arrived last. */
  get lastNumber(): number {
    return this.#lastNumber;
  }

  [Symbol.iterator](): Iterator<LocalWaiter> {
    return this.#waiters.members[Symbol.iterator]();
  }

  add(request: CallerRequest, resolve: (lease: GrantedLease) => void, reject: (error: unknown) => void): LocalWaiter {
    const waiter = new LocalWaiter(request, ++this.#lastNumber, resolve, reject, this.#listener);
    waiter.place = this.#waiters.join(waiter);
    return waiter;
  }

  /** Removes a waiter. Returns whether it was in the queue. */
  remove(waiter: LocalWaiter): boolean {
    return waiter.place?.leave() ?? false;
  }

  /** Rejects the waits of callers up to that number. Later callers have not waited for the request that failed. */
  failUpTo(lastNumber: number, error: unknown): void {
    for (let waiter = this.first; waiter && waiter.number <= lastNumber; waiter = this.first) {
      this.#waiters.shift();
      waiter.failed(error);
    }
  }

  /** Rejects the waits of callers that have given up. */
  failGivenUp(waiters: readonly LocalWaiter[]): void {
    for (const waiter of waiters) {
      const reason = waiter.request.givenUp?.reason;
      waiter.failed(this.#backend.explain?.(reason) ?? reason);
    }
  }
}

// The offset keeps numbers small: small numbers take no memory of their own, milliseconds since 1970 do.
const EPOCH_MS = Date.now();

/** The listener for a waiter that gives up. */
export interface WaiterListener {
  gaveUp(waiter: LocalWaiter, reason: unknown): void;
}

/** One caller in a local queue. There are many callers, so it is small. */
export class LocalWaiter implements GivingUpListener {
  readonly #sinceMs = Date.now() - EPOCH_MS;
  /** The waiter's place in the queue. */
  place: Place<LocalWaiter> | undefined = undefined;
  readonly #resolve: (lease: GrantedLease) => void;
  readonly #reject: (error: unknown) => void;
  readonly #listener: WaiterListener;

  constructor(
    readonly request: CallerRequest,
    /** Grows with every caller that arrives. */
    readonly number: number,
    resolve: (lease: GrantedLease) => void,
    reject: (error: unknown) => void,
    listener: WaiterListener,
  ) {
    this.#resolve = resolve;
    this.#reject = reject;
    this.#listener = listener;
  }

  /** The time of arrival, by the wall clock. */
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
    const failure = failureOf(this.request, error);
    this.request.settled(undefined, failure);
    this.#reject(failure);
  }
}

/** One caller in a local queue, as shown to observers. */
export interface LocalCaller {
  readonly state: 'held' | 'waiting';
  readonly label: string | undefined;
  readonly since: Date;
}

/** Returns the holders of the shared leases, up to `most`. */
export function localHolders(sharedLeases: readonly SharedLease[], most: number): LocalCaller[] {
  return sharedLeases.flatMap((shared) => shared.firstHolders(most).map(asHolder)).slice(0, most);
}

/** Returns the holders of the shared leases, and the callers that wait behind them. */
export function localCallers(sharedLeases: readonly SharedLease[], waiting: Iterable<LocalWaiter>): LocalCaller[] {
  const inside = sharedLeases.flatMap(({ holders }) => holders);
  const holders = inside.map(asHolder);
  const waiters = Array.from(waiting, ({ request, since }): LocalCaller => {
    return { state: 'waiting', label: request.label, since };
  });
  return [...holders, ...waiters];
}

function asHolder({ lease, label }: Holder): LocalCaller {
  return { state: 'held', label, since: lease.acquiredAt };
}
