import { settledWithin } from '../async/timer.js';
import { LockShutdownError } from '../contract/errors.js';
import type { GrantedLease } from '../contract/granted-lease.js';
import type { LockBackend } from '../contract/lock-backend.js';
import { requestOf } from '../contract/lock-request.js';
import { LocalLines } from '../local/local-lines.js';
import { Acquisition } from './acquisition.js';
import type { AcquisitionOptions } from './acquisition.js';
import type { LockTarget } from './lock-target.js';

/**
 * The gate between callers and a backend, and what shutting down means for both:
 * open, then `stopWaiting` (what is free is still granted, nobody stands in line), then `drain` (nothing is granted).
 */
export class Admission {
  readonly #backend: LockBackend;
  readonly #local: LocalLines;
  readonly #held = new Set<GrantedLease>();
  readonly #waiting = new Set<Acquisition>();
  #isStopping = false;
  #isClosed = false;

  constructor(backend: LockBackend) {
    this.#backend = backend;
    this.#local = new LocalLines(backend);
  }

  /** The leases granted through here and not yet given back. */
  get held(): ReadonlySet<GrantedLease> {
    return this.#held;
  }

  /** The local lines, for whoever wants to know who stands in them. */
  get local(): LocalLines {
    return this.#local;
  }

  /** The lease, or `null` when the deadline passed or somebody is ahead of one who does not wait. */
  async acquire(target: LockTarget, options: AcquisitionOptions): Promise<GrantedLease | null> {
    const { key } = target;
    if (this.#isClosed) throw new LockShutdownError(key);
    const now = target.localLine ? this.#local.takeNow(target, options.label) : undefined;
    if (now) return this.#admitted(now);
    const isTurnedAway = this.#isStopping && options.waitMs > 0;
    const acquisition = new Acquisition(target, options, options.waitMs > 0 && !isTurnedAway);
    const lease = await this.#ask(target, acquisition);
    if (!lease && isTurnedAway) throw new LockShutdownError(key);
    return lease && this.#admit(lease);
  }

  /** Rejects everybody who stands in line with a `LockShutdownError`. */
  stopWaiting(): void {
    this.#isStopping = true;
    const waiting = [...this.#waiting];
    waiting.forEach((acquisition) => acquisition.giveUp(new LockShutdownError(acquisition.key)));
  }

  /** Lets holders finish for at most `drainTimeoutMs`, then ends their leases and gives them back. Never rejects. */
  async drain(drainTimeoutMs: number): Promise<void> {
    this.stopWaiting();
    this.#isClosed = true;
    await settledWithin(Promise.all([...this.#held].map((lease) => lease.released)), drainTimeoutMs);
    const overdue = [...this.#held];
    overdue.forEach((lease) => lease.lose(new LockShutdownError(lease.key)));
    await Promise.all(overdue.map((lease) => lease.release()));
    await this.#local.giveUpKept();
  }

  /** `null` also when the deadline passed, however that showed. */
  async #ask({ localLine, line }: LockTarget, acquisition: Acquisition): Promise<GrantedLease | null> {
    if (acquisition.wait) this.#waiting.add(acquisition);
    try {
      const isLocal = localLine && line === 'fifo';
      return await (isLocal ? this.#local.acquire(acquisition) : this.#backend.acquire(requestOf(acquisition)));
    } catch (error) {
      if (acquisition.isTimeout(error)) return null;
      throw error;
    } finally {
      acquisition.settle();
      this.#waiting.delete(acquisition);
    }
  }

  async #admit(lease: GrantedLease): Promise<GrantedLease> {
    if (this.#isClosed) {
      await lease.release();
      throw new LockShutdownError(lease.key);
    }
    return this.#admitted(lease);
  }

  #admitted(lease: GrantedLease): GrantedLease {
    this.#held.add(lease);
    lease.onReleased(() => this.#held.delete(lease));
    return lease;
  }
}
