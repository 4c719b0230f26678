import { promised } from '../async/promised.js';
import { putBack, takeController } from '../async/spare-controllers.js';
import type { GrantedLease } from '../contract/granted-lease.js';
import { requestOf } from '../contract/lock-request.js';
import type { GrantingBackend } from './granting-backend.js';
import type { LocalWaiter } from './local-waiter.js';

/** A contender of this process on its way to a lease, on behalf of all who wait in the local line. */
export class LocalEntry {
  readonly lease: Promise<GrantedLease | null>;
  /** The number of the last caller who was there when it set out: what it ends with is theirs to know. */
  readonly lastNumber: number;
  readonly keeps: boolean;
  /** Those who gave up when nobody else waited; they are told when the contender has left. */
  readonly abandonedBy: LocalWaiter[] = [];
  readonly #abort = takeController();
  readonly #backend: GrantingBackend;

  constructor(backend: GrantingBackend, first: LocalWaiter, lastNumber: number) {
    this.#backend = backend;
    this.lastNumber = lastNumber;
    this.keeps = first.request.keepMs > 0;
    this.lease = promised(() => backend.acquire(requestOf(first.request, this.#abort.signal)));
  }

  /** There is a lease: nobody abandons it any more. */
  granted(): void {
    if (this.#backend.releasesSignals) putBack(this.#abort);
  }

  /** Leaves the line; `lease` then rejects with `reason`. */
  abandon(by: LocalWaiter, reason: unknown): void {
    this.abandonedBy.push(by);
    this.#abort.abort(reason);
  }
}
