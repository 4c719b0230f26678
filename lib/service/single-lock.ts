import { anyAbort, onAbort } from '../async/abort.js';
import type { Dispose } from '../async/abort.js';
import { Deadline } from '../composite/deadline.js';
import { resolveAcquireOptions } from '../contract/acquire.options.js';
import type { ResolvedAcquireOptions } from '../contract/acquire.options.js';
import { check } from '../contract/check.js';
import { LockReentrancyError, LockTimeoutError } from '../contract/errors.js';
import type { Lease, LeaseMode } from '../contract/lease.js';
import type { AcquireOptions, Lock, UsingOptions } from '../contract/lock.js';
import type { Line } from '../contract/lock-request.js';
import type { Admission } from './admission.js';
import { EnteredLease } from './entered-lease.js';
import { assertStands, frameHolding, runHolding, runNested } from './held-leases.js';
import type { Frame, Holding } from './tenure.js';

type Work<T> = (lease: Lease) => T | Promise<T>;

/** Which key a lock is on, how it is held, and how long its callers wait unless they say. */
export interface LockTarget extends Holding {
  readonly key: string;
  readonly mode: Exclude<LeaseMode, 'permit'>;
  readonly line: Line;
  readonly waitMs: number;
}

/** The lock on one key in one mode: options become a deadline, a nested call enters what its context already holds. */
export class SingleLock implements Lock {
  readonly #admission: Admission;
  readonly #target: LockTarget;

  constructor(admission: Admission, target: LockTarget) {
    this.#admission = admission;
    this.#target = target;
  }

  async acquire(options: AcquireOptions = {}): Promise<Lease> {
    const resolved = this.#resolve(options, this.#target.waitMs);
    const lease = await this.#askByHandle(resolved);
    if (!lease) throw new LockTimeoutError(this.#target.key, resolved.waitMs);
    return lease;
  }

  async tryAcquire(options: AcquireOptions = {}): Promise<Lease | null> {
    return this.#askByHandle(this.#resolve(options, 0));
  }

  async using<T>(work: Work<T>, options: UsingOptions = {}): Promise<T> {
    const resolved = this.#resolve(options, this.#target.waitMs);
    const outer = frameHolding(this.#target);
    const deadline = new Deadline(this.#target.key, resolved.waitMs);
    if (outer) return this.#enter(outer, deadline, resolved, work).finally(deadline.dispose);
    return this.#hold(deadline, resolved, work).finally(deadline.dispose);
  }

  async #hold<T>(deadline: Deadline, options: ResolvedAcquireOptions, work: Work<T>): Promise<T> {
    const lease = await this.#ask(deadline, options);
    if (!lease) throw deadline.timeout();
    deadline.dispose();
    return runHolding(lease, this.#target, () => guarded(lease, options, work));
  }

  async #enter<T>(outer: Frame, deadline: Deadline, options: ResolvedAcquireOptions, work: Work<T>): Promise<T> {
    options.signal?.throwIfAborted();
    this.#checkEntry(outer, options);
    const leaveLine = outer.tenure?.lease.mode === 'read' ? () => {} : await this.#turn(outer, deadline, options);
    try {
      const { tenure } = outer;
      if (!tenure?.isOpen) return await this.#hold(deadline, options, work);
      deadline.dispose();
      const lease = new EnteredLease(tenure.lease, this.#target.mode);
      return await runNested(tenure, lease, () => guarded(lease, options, work));
    } finally {
      leaveLine();
    }
  }

  async #turn(outer: Frame, deadline: Deadline, options: ResolvedAcquireOptions): Promise<Dispose> {
    if (outer.isOccupied && !deadline.waits) throw deadline.timeout();
    const limits = anyAbort([options.signal, deadline.signal]);
    return outer.turn(limits.signal).finally(limits.dispose);
  }

  #checkEntry(outer: Frame, options: ResolvedAcquireOptions): void {
    if (!options.reentrant) throw this.#selfWait('reentrant is false');
    const isUpgrade = outer.tenure?.lease.mode === 'read' && this.#target.mode !== 'read';
    if (isUpgrade) throw this.#selfWait('a reader cannot become the writer; release the read lock first');
  }

  /** A lease that its holder gives back. One that is lost is of no use to anybody: it is given back at once. */
  async #askByHandle(options: ResolvedAcquireOptions): Promise<Lease | null> {
    if (frameHolding(this.#target)) throw this.#selfWait('a second lease would wait for the first; use using()');
    const deadline = new Deadline(this.#target.key, options.waitMs);
    const lease = await this.#ask(deadline, options).finally(deadline.dispose);
    if (lease) onAbort(lease.signal, () => lease.state === 'lost' && void lease.release());
    return lease;
  }

  /** `null` when the deadline passed, however that showed. */
  async #ask(deadline: Deadline, options: ResolvedAcquireOptions): Promise<Lease | null> {
    options.signal?.throwIfAborted();
    const limits = anyAbort([options.signal, deadline.signal]);
    const { key, mode, line } = this.#target;
    try {
      const request = { key, mode, line, wait: deadline.waits, signal: limits.signal, label: options.label };
      return await this.#admission.acquire(request);
    } catch (error) {
      if (deadline.isReasonOf(error)) return null;
      throw error;
    } finally {
      limits.dispose();
    }
  }

  #resolve(options: UsingOptions, defaultWaitMs: number): ResolvedAcquireOptions {
    const resolved = resolveAcquireOptions(options, defaultWaitMs);
    if (this.#target.line === 'none') check(resolved.waitMs === 0, 'waitMs', resolved.waitMs, "0 where line is 'none'");
    return resolved;
  }

  #selfWait(why: string): LockReentrancyError {
    return new LockReentrancyError(this.#target.key, why);
  }
}

/** The work's result, unless the lease was lost before it began, or while it ran and the caller wants to know. */
async function guarded<T>(lease: Lease, options: ResolvedAcquireOptions, work: Work<T>): Promise<T> {
  assertStands(lease);
  const result = await work(lease);
  const isLost = !lease.isHeld() && lease.state === 'lost';
  if (isLost && options.onLost === 'throw') throw lease.signal.reason;
  return result;
}
