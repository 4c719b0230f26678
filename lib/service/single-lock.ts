import { now } from '../async/clock.js';
import { promised } from '../async/deferred.js';
import { Deadline } from '../composite/deadline.js';
import { resolveAcquireOptions } from '../contract/acquire.options.js';
import type { ResolvedAcquireOptions } from '../contract/acquire.options.js';
import { PLACE, checkWork } from '../contract/check.js';
import { LockReentrancyError } from '../contract/errors.js';
import type { Lease } from '../contract/lease.js';
import type { AcquireOptions, Lock, UsingOptions } from '../contract/lock.js';
import type { AcquisitionGate, AcquisitionOptions } from './acquisition-gate.js';
import { placed } from './hold-watch.js';
import { mustNotHoldAtomicSet, EnteredLease, HoldScope, readOnIn, scopeHolding } from './hold-scope.js';
import type { LeaveLine } from './hold-scope.js';
import { guarded, runHolding, runInside } from './held-leases.js';
import type { LockTarget } from './lock-targets.js';

type Work<T> = (lease: Lease) => T | Promise<T>;

/**
 * The lock on one key in one mode. Options become a deadline, and a nested call re-enters a key that its context
 * already holds.
 */
export class SingleLock implements Lock {
  readonly #gate: AcquisitionGate;
  readonly #target: LockTarget;

  constructor(gate: AcquisitionGate, target: LockTarget) {
    this.#gate = gate;
    this.#target = target;
  }

  // Not `async`: a promise and a frame would live as long as the wait, and ten thousand callers may wait.
  acquire(options?: AcquireOptions): Promise<Lease> {
    const asked = placed(options, this.#target, this, 'acquire');
    return promised(() => {
      const resolved = resolveAcquireOptions(asked, this.#target);
      const outer = scopeHolding(this.#target);
      return outer
        ? this.#readOn(outer, resolved)
        : this.#gate.acquire(this.#target, this.#asking(resolved, resolved.waitMs, true));
    });
  }

  tryAcquire(options?: AcquireOptions): Promise<Lease | null> {
    const asked = placed(options, this.#target, this, 'tryAcquire');
    return promised(() => {
      const resolved = resolveAcquireOptions(asked, this.#target, 0);
      const outer = scopeHolding(this.#target);
      return outer
        ? this.#readOn(outer, resolved)
        : this.#gate.tryAcquire(this.#target, this.#asking(resolved, resolved.waitMs, true));
    });
  }

  async using<T>(work: Work<T>, options?: UsingOptions): Promise<T> {
    checkWork(work);
    const resolved = resolveAcquireOptions(placed(options, this.#target, this, 'using'), this.#target);
    const outer = scopeHolding(this.#target);
    return outer ? this.#enter(outer, resolved, work) : this.#hold(resolved, resolved.waitMs, work);
  }

  /** @param leftMs remaining time that the caller waits, in milliseconds */
  async #hold<T>(options: ResolvedAcquireOptions, leftMs: number, work: Work<T>): Promise<T> {
    const lease = await this.#gate.acquire(this.#target, this.#asking(options, leftMs, false));
    return runHolding(lease, this.#target, options, work);
  }

  async #enter<T>(outer: HoldScope, options: ResolvedAcquireOptions, work: Work<T>): Promise<T> {
    options.signal?.throwIfAborted();
    const { reentrantHold } = outer;
    this.#checkEntry(outer, options);
    const begun = now();
    const leaveLine = reentrantHold?.mode === 'read' ? () => {} : await this.#turn(outer, options);
    let entered: HoldScope | undefined;
    try {
      const leftMs = Math.max(0, options.waitMs - (now() - begun));
      // The call that this one was made in may have ended meanwhile, and one further out may still hold the key.
      const holder = outer.reentrantHold?.isOpen ? outer : scopeHolding(this.#target);
      if (!holder) return await this.#hold(options, leftMs, work);
      // A global transaction around both has locked the key meanwhile. It has a line of its own.
      if (!reentrantHold || holder.reentrantHold !== reentrantHold) {
        return await this.#enter(holder, { ...options, waitMs: leftMs }, work);
      }
      this.#checkEntry(holder, options);
      const lease = new EnteredLease(reentrantHold.lease, this.#target.mode);
      reentrantHold.enter(lease.mode);
      const span = { reentrantHold, lease };
      entered = new HoldScope(span);
      return await runInside(span, () => guarded(lease, options, work), { scope: entered });
    } finally {
      leaveLine(entered?.lastInLine);
    }
  }

  async #turn(outer: HoldScope, options: ResolvedAcquireOptions): Promise<LeaveLine> {
    const deadline = new Deadline(this.#target.key, options.waitMs);
    deadline.waitsFor(this.#gate.holders.of(this.#target));
    if (outer.lastInLine && !deadline.waits) throw deadline.timeout();
    return deadline.within([options.signal], (signal) => outer.turn(signal));
  }

  #checkEntry(outer: HoldScope, options: ResolvedAcquireOptions): void {
    if (!options.reentrant) throw this.#selfWait('reentrant is false');
    const isUpgrade = outer.reentrantHold?.mode === 'read' && this.#target.mode !== 'read';
    if (isUpgrade) throw this.#selfWait('a reader cannot become the writer; release the read lock first');
  }

  /** Returns the options of an acquisition, unless it must not be made. @param isHandle see `AcquisitionOptions` */
  #asking(options: ResolvedAcquireOptions, leftMs: number, isHandle: boolean): AcquisitionOptions {
    const { waitMs, signal, label, [PLACE]: place } = options;
    mustNotHoldAtomicSet(this.#target.key);
    signal?.throwIfAborted();
    return { waitMs, leftMs, signal, label, place, isHandle };
  }

  /**
   * Returns a reader's lease on a key that this context holds for writing. The hold is downgraded when the writer's
   * lease is released first.
   */
  async #readOn({ reentrantHold }: HoldScope, { signal, reentrant }: ResolvedAcquireOptions): Promise<Lease> {
    if (!reentrant) throw this.#selfWait('reentrant is false');
    if (!reentrantHold || reentrantHold.mode !== 'write' || this.#target.mode !== 'read') {
      throw this.#selfWait('a second lease would wait for the first; use using()');
    }
    signal?.throwIfAborted();
    return readOnIn(reentrantHold);
  }

  #selfWait(why: string): LockReentrancyError {
    return new LockReentrancyError(this.#target.key, why);
  }
}
