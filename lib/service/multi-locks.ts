import { trying } from '../composite/deadline.js';
import { MultiLease, releaseTogether } from '../composite/multi-lease.js';
import { inFixedOrder, MultiLock } from '../composite/multi-lock.js';
import { HOLDING_FIELDS, pickHolding, resolveAcquireOptions } from '../contract/acquire.options.js';
import type { HoldingOptions, ResolvedAcquireOptions } from '../contract/acquire.options.js';
import { check, checkFields, checkWork, PLACE } from '../contract/check.js';
import type { Placed } from '../contract/check.js';
import { LockConfigurationError, LockReentrancyError } from '../contract/errors.js';
import type { GrantedLease } from '../contract/granted-lease.js';
import type { LockBackend } from '../contract/lock-backend.js';
import type { AcquireOptions, Lock, UsingOptions } from '../contract/lock.js';
import type { AcquisitionGate } from './acquisition-gate.js';
import { placed } from './call-site.js';
import { callScope, frameHolding, guarded, heldLock, runHoldingAll } from './held-leases.js';
import { watchSet } from './hold-watch.js';
import { SHARING_FIELDS } from './lock-service.options.js';
import type { SharingOptions } from './lock-service.options.js';
import { setOf } from './lock-targets.js';
import type { LockTarget, LockTargets } from './lock-targets.js';
import { SingleLock } from './single-lock.js';

/** What locks on several keys are made of. */
interface MultiLockParts {
  readonly backend: LockBackend;
  readonly admission: AcquisitionGate;
  readonly targets: LockTargets;
  /** How long callers wait unless they say, in milliseconds. */
  readonly waitMs: number;
}

/** The locks on several keys at a time, of one connection. */
export class MultiLocks {
  readonly #parts: MultiLockParts;

  constructor(parts: MultiLockParts) {
    this.#parts = parts;
  }

  /** @throws LockConfigurationError that names the wrong field */
  lockOn(keys: readonly string[], options: MultiOptions): MultiLock | AtomicMultiLock {
    const { backend, admission, targets, waitMs } = this.#parts;
    const { atomic, ...others } = resolveMultiOptions(keys, options, backend);
    const holding = targets.holdingOf(others);
    const members = keys.map((key) => {
      const target = targets.ofMember(key, 'exclusive', 'fifo', others);
      return {
        key,
        identity: target.identity,
        lock: new SingleLock(admission, target),
        target: { ...target, holding },
      };
    });
    const inOrder = new MultiLock(members, waitMs, callScope(admission.holds, { holding }));
    if (!atomic) return inOrder;
    const wanted = inFixedOrder(members).map(({ target }) => target);
    return new AtomicMultiLock(admission, wanted as unknown as Targets, inOrder);
  }
}

export interface MultiOptions extends SharingOptions, HoldingOptions {
  /**
   * `true`: stands in all lines from one transaction on, instead of one line after another, and each caller by itself.
   * Nobody holds a key while it has yet to line up for another. For keys whose users all ask for everything at once; see
   * docs/recipes/multi-lock.md. Default `false`.
   */
  readonly atomic?: boolean | undefined;
}

// All of them are in one message, and servers do not take more than a megabyte.
const MOST_ATOMIC_KEYS = 1_000;

/** Checks. @throws LockConfigurationError that names the wrong field */
function resolveMultiOptions(
  keys: readonly string[],
  options: MultiOptions,
  backend: Pick<LockBackend, 'name' | 'acquireAll'>,
): MultiOptions {
  checkFields('multi-lock options', options, [...SHARING_FIELDS, ...HOLDING_FIELDS, 'atomic']);
  if (!Array.isArray(keys) || keys.length === 0) {
    throw new LockConfigurationError('keys must be an array of at least one key');
  }
  const { atomic = false } = options;
  check(typeof atomic === 'boolean', 'atomic', atomic, 'true or false');
  return atomic ? atomicOptions(keys, options, backend) : options;
}

function atomicOptions(
  keys: readonly string[],
  options: MultiOptions,
  backend: Pick<LockBackend, 'name' | 'acquireAll'>,
): MultiOptions {
  const { localLine, keepMs } = options;
  check(localLine !== true, 'localLine', localLine, 'false, or not be given, with atomic');
  check(keepMs === undefined || keepMs === 0, 'keepMs', keepMs, '0, or not be given, with atomic');
  if (!backend.acquireAll) throw new LockConfigurationError(`the backend ${backend.name} has no atomic multi-lock`);
  if (keys.length > MOST_ATOMIC_KEYS) {
    throw new LockConfigurationError(`keys must be at most ${MOST_ATOMIC_KEYS} with atomic, got ${keys.length}`);
  }
  return { atomic: true, localLine: false, keepMs: 0, ...pickHolding(options) };
}

type Targets = readonly [LockTarget, ...LockTarget[]];

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
  readonly #admission: AcquisitionGate;
  readonly #targets: Targets;
  readonly #entering: Lock;

  /**
   * @internal
   * @param targets of different keys
   * @param entering the lock on the same keys, for calls that hold all of them already
   */
  constructor(admission: AcquisitionGate, targets: Targets, entering: Lock) {
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
