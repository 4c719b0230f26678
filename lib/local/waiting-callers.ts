import { Roster } from '../async/roster.js';
import type { LockBackend } from '../contract/lock-backend.js';
import type { GrantedLease } from '../contract/granted-lease.js';
import type { CallerRequest } from '../contract/lock-request.js';
import { LocalWaiter } from './local-waiter.js';
import type { WaiterListener } from './local-waiter.js';

/** Those who wait in a local line, in the order of their arrival. */
export class WaitingCallers implements Iterable<LocalWaiter> {
  readonly #backend: Pick<LockBackend, 'explain'>;
  readonly #waiters = new Roster<LocalWaiter>();
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

  /** The number of whoever came last. */
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

  /** Whether it was there. */
  remove(waiter: LocalWaiter): boolean {
    return waiter.place?.leave() ?? false;
  }

  /** Ends the waits of those who came up to that number; whoever came later has not waited for what failed. */
  failUpTo(lastNumber: number, error: unknown): void {
    for (let waiter = this.first; waiter && waiter.number <= lastNumber; waiter = this.first) {
      this.#waiters.shift();
      waiter.failed(error);
    }
  }

  /** Tells those who have given up that their waits are over. */
  failGivenUp(waiters: readonly LocalWaiter[]): void {
    for (const waiter of waiters) {
      const reason = waiter.request.givenUp?.reason;
      waiter.failed(this.#backend.explain?.(reason) ?? reason);
    }
  }
}
