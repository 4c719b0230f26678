import { resolveAcquireOptions } from '../contract/acquire.options.js';
import type { ResolvedAcquireOptions } from '../contract/acquire.options.js';
import { checkWork } from '../contract/check.js';
import { LockReentrancyError } from '../contract/errors.js';
import type { GrantedLease } from '../contract/granted-lease.js';
import type { AcquireOptions, Lock, UsingOptions } from '../contract/lock.js';
import { PLACE } from '../contract/placed.js';
import type { Placed } from '../contract/placed.js';
import { MultiLease, releaseTogether } from '../composite/multi-lease.js';
import { trying } from '../composite/time-out.js';
import type { Admission } from './admission.js';
import { placed } from './call-site.js';
import { guarded } from './guarded.js';
import { frameHolding, heldLock, runHoldingAll } from './held-leases.js';
import { watchSet } from './held-set.js';
import { setOf } from './lock-target.js';
import type { LockTarget } from './lock-target.js';

export type Targets = readonly [LockTarget, ...LockTarget[]];

/**
 * All keys or none, lined up for in one step. Of two such sets one is before the other on every key that both want, so
 * they cannot wait for each other, and nobody holds a key while it has yet to line up for another one.
 *
 * That is so as long as whoever uses these keys asks for all that it needs at once: by such a set, or for a single key.
 * A call that asks for more while it holds one is refused.
 *
 * The set is lost as soon as one of its keys is; one that waits when its session is lost lines up again, within its time.
 */
export class AtomicMultiLock implements Lock {
  readonly #admission: Admission;
  readonly #targets: Targets;
  readonly #entering: Lock;

  /**
   * @internal
   * @param targets of different keys
   * @param entering the lock on the same keys, for calls that hold all of them already
   */
  constructor(admission: Admission, targets: Targets, entering: Lock) {
    this.#admission = admission;
    this.#targets = targets;
    this.#entering = entering;
  }

  /**
   * @throws LockTimeoutError, LockUnavailableError, LockConfigurationError; LockReentrancyError when the call holds
   *   anything by `using` or a decorator
   */
  async acquire(options?: AcquireOptions): Promise<MultiLease> {
    const resolved = this.#resolve(placed(options, this.#targets[0], this, 'acquire'));
    const leases = (await this.#ask(resolved, true)) ?? this.#turnAway(resolved);
    return this.#setOf(leases, resolved);
  }

  /** `null` when one of the keys is not to be had; `waitMs` is 0 unless given. @throws as `acquire`, but for the time-out */
  async tryAcquire(options?: AcquireOptions): Promise<MultiLease | null> {
    return trying((once) => this.acquire(once), placed(options, this.#targets[0], this, 'tryAcquire'));
  }

  /**
   * A call that holds all of the keys enters them.
   * @throws as `acquire`; LockLostError after `work` has ended, when a key was lost meanwhile; what `work` throws
   */
  async using<T>(work: (lease: MultiLease) => T | Promise<T>, options?: UsingOptions): Promise<T> {
    checkWork(work);
    if (this.#targets.every((target) => frameHolding(target))) {
      return this.#entering.using((lease) => work(lease as MultiLease), options);
    }
    const resolved = this.#resolve(placed(options, this.#targets[0], this, 'using'));
    const leases = (await this.#ask(resolved, false)) ?? this.#turnAway(resolved);
    const set = this.#setOf(leases, resolved);
    const members = this.#targets.flatMap((target, place) => {
      const lease = leases[place];
      return lease ? [{ lease, holding: { ...target, isOfAtomicSet: true } }] : [];
    });
    return runHoldingAll(members, set, () => guarded(set, resolved, work)).finally(() => set.detach());
  }

  #resolve(options: UsingOptions & Placed): ResolvedAcquireOptions {
    const { waitMs, onLost } = this.#targets[0];
    return resolveAcquireOptions(options, { waitMs, onLost });
  }

  #setOf(leases: readonly GrantedLease[], { label, [PLACE]: place }: ResolvedAcquireOptions): MultiLease {
    const set = new MultiLease(leases, releaseTogether);
    const { holding } = this.#targets[0];
    watchSet(this.#admission.holds, set, { key: set.key, holding }, { label, place });
    return set;
  }

  #ask(options: ResolvedAcquireOptions, isHandle: boolean): Promise<readonly GrantedLease[] | null> {
    const held = heldLock();
    if (held) {
      throw new LockReentrancyError(
        setOf(this.#targets).key,
        `an atomic set must be all that a call asks for, and it holds "${held.key}"`,
      );
    }
    const { waitMs, signal, label } = options;
    signal?.throwIfAborted();
    return this.#admission.acquireAll(this.#targets, { waitMs, leftMs: waitMs, signal, label, isHandle });
  }

  #turnAway({ waitMs }: ResolvedAcquireOptions): never {
    throw this.#admission.timeout(setOf(this.#targets), waitMs);
  }
}
