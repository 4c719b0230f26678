import { anyAbort, onAbort } from '../async/abort.js';
import { settledWithin } from '../async/timer.js';
import { LockShutdownError } from '../contract/errors.js';
import type { GrantedLease } from '../contract/granted-lease.js';
import type { LockBackend } from '../contract/lock-backend.js';
import type { LockRequest } from '../contract/lock-request.js';

/**
 * The gate between callers and a backend, and what shutting down means for both:
 * open, then `stopWaiting` (what is free is still granted, nobody stands in line), then `drain` (nothing is granted).
 */
export class Admission {
  readonly #backend: LockBackend;
  readonly #held = new Set<GrantedLease>();
  readonly #waitingEnded = new AbortController();
  #closed = false;

  constructor(backend: LockBackend) {
    this.#backend = backend;
  }

  /** The leases granted through here and not yet given back. */
  get held(): ReadonlySet<GrantedLease> {
    return this.#held;
  }

  async acquire(request: LockRequest): Promise<GrantedLease | null> {
    if (this.#closed) throw new LockShutdownError(request.key);
    const wait = request.wait && !this.#isStopping;
    const lease = await this.#ask(request, wait);
    if (!lease && request.wait && !wait) throw new LockShutdownError(request.key);
    return lease && this.#admit(lease);
  }

  /** Rejects everybody who stands in line with a `LockShutdownError`. */
  stopWaiting(): void {
    this.#waitingEnded.abort();
  }

  /** Lets holders finish for at most `drainTimeoutMs`, then ends their leases and gives them back. Never rejects. */
  async drain(drainTimeoutMs: number): Promise<void> {
    this.stopWaiting();
    this.#closed = true;
    await settledWithin(Promise.all([...this.#held].map((lease) => lease.released)), drainTimeoutMs);
    const overdue = [...this.#held];
    overdue.forEach((lease) => lease.lose(new LockShutdownError(lease.key)));
    await Promise.all(overdue.map((lease) => lease.release()));
  }

  get #isStopping(): boolean {
    return this.#waitingEnded.signal.aborted;
  }

  async #ask(request: LockRequest, wait: boolean): Promise<GrantedLease | null> {
    if (!wait) return this.#backend.acquire({ ...request, wait });
    const shutdown = new AbortController();
    const disposeShutdown = onAbort(this.#waitingEnded.signal, () =>
      shutdown.abort(new LockShutdownError(request.key)),
    );
    const limits = anyAbort([request.signal, shutdown.signal]);
    try {
      return await this.#backend.acquire({ ...request, wait, signal: limits.signal });
    } finally {
      disposeShutdown();
      limits.dispose();
    }
  }

  async #admit(lease: GrantedLease): Promise<GrantedLease> {
    if (this.#closed) {
      await lease.release();
      throw new LockShutdownError(lease.key);
    }
    this.#held.add(lease);
    void lease.released.then(() => this.#held.delete(lease));
    return lease;
  }
}
