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
import { placed, watchSet } from './hold-watch.js';
import { callScope, guarded, runHoldingAll } from './held-leases.js';
import { scopeHolding, heldLock } from './hold-scope.js';
import type { LockConnection } from './lock-connection.js';
import { SHARING_FIELDS } from './lock-service.options.js';
import type { SharingOptions } from './lock-service.options.js';
import { setOf } from './lock-targets.js';
import type { LockTarget } from './lock-targets.js';
import { SingleLock } from './single-lock.js';

/** The locks on several keys of one connection. */
export class MultiLocks {
  readonly #connection: LockConnection;

  constructor(connection: LockConnection) {
    this.#connection = connection;
  }

  /** @throws LockConfigurationError that names the wrong field */
  lockOn(keys: readonly string[], options: MultiOptions): MultiLock | AtomicMultiLock {
    const { backend, gate, targets, waitMs } = this.#connection;
    const { atomic, ...others } = resolveMultiOptions(keys, options, backend);
    const holding = targets.holdingOf(others);
    const members = keys.map((key) => {
      const target = targets.ofMember(key, others);
      return {
        key,
        identity: target.identity,
        lock: new SingleLock(gate, target),
        target: { ...target, holding },
      };
    });
    const inOrder = new MultiLock(members, waitMs, callScope(gate.holds, { holding }));
    if (!atomic) return inOrder;
    const wanted = inFixedOrder(members).map(({ target }) => target);
    return new AtomicMultiLock(gate, wanted as unknown as Targets, inOrder);
  }
}

export interface MultiOptions extends SharingOptions, HoldingOptions {
  /**
   * `true`: queues for all keys in one transaction instead of for one key after another. Each caller has contenders of
   * its own. No caller holds a key before it is queued for all others. For keys whose users all request everything at
   * once, see [multi-lock](../../docs/recipes/multi-lock.md). Default `false`.
   */
  readonly atomic?: boolean | undefined;
}

// All keys are in one message, and servers do not accept more than a megabyte.
const MOST_ATOMIC_KEYS = 1_000;

/** Checks the options. @throws LockConfigurationError that names the wrong field */
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
  checkAtomicSharing(options);
  if (!backend.acquireAll) throw new LockConfigurationError(`the backend ${backend.name} has no atomic multi-lock`);
  checkAtomicKeys(keys);
  return { atomic: true, localLine: false, keepMs: 0, ...pickHolding(options) };
}

/** @throws LockConfigurationError that names the wrong field, after `prefix` */
export function checkAtomicSharing({ localLine, keepMs }: SharingOptions, prefix = ''): void {
  check(localLine !== true, `${prefix}localLine`, localLine, 'false, or not be given, with atomic');
  check(keepMs === undefined || keepMs === 0, `${prefix}keepMs`, keepMs, '0, or not be given, with atomic');
}

/** @throws LockConfigurationError, after `prefix`, for more keys than an atomic set may have */
export function checkAtomicKeys({ length }: readonly string[], prefix = ''): void {
  if (length <= MOST_ATOMIC_KEYS) return;
  throw new LockConfigurationError(`${prefix}keys must be at most ${MOST_ATOMIC_KEYS} with atomic, got ${length}`);
}

type Targets = readonly [LockTarget, ...LockTarget[]];

/**
 * A lock on all keys or none, queued for in one step. Of two such sets, one is ahead of the other on every key that
 * both want. So they cannot wait for each other, and no caller holds a key before it is queued for all others.
 *
 * This requires that all users of these keys request everything they need at once: by such a set, or for a single key.
 * A call that requests more while it holds one throws.
 *
 * The set is lost as soon as one of its keys is lost. A set that waits when its session is lost queues again, within
 * its deadline.
 */
export class AtomicMultiLock implements Lock {
  readonly #gate: AcquisitionGate;
  readonly #targets: Targets;
  readonly #entering: Lock;

  /**
   * @internal
   * @param targets targets of different keys
   * @param entering lock on the same keys, for calls that hold all of them already
   */
  constructor(gate: AcquisitionGate, targets: Targets, entering: Lock) {
    this.#gate = gate;
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

  /**
   * Returns `null` when one of the keys cannot be acquired; `waitMs` is 0 unless given.
   * @throws as `acquire`, except the time-out
   */
  async tryAcquire(options?: AcquireOptions): Promise<MultiLease | null> {
    return trying((once) => this.acquire(once), placed(options, this.#targets[0], this, 'tryAcquire'));
  }

  /**
   * Runs `work` under all keys. A call that holds all of the keys already re-enters them.
   * @throws as `acquire`; LockLostError after `work` has ended, when a key was lost meanwhile; what `work` throws
   */
  async using<T>(work: (lease: MultiLease) => T | Promise<T>, options?: UsingOptions): Promise<T> {
    checkWork(work);
    if (this.#targets.every((target) => scopeHolding(target))) {
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
    watchSet(this.#gate.holds, set, { key: set.key, holding }, { label, place });
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
    return this.#gate.acquireAll(this.#targets, { waitMs, leftMs: waitMs, signal, label, isHandle });
  }

  #turnAway({ waitMs }: ResolvedAcquireOptions): never {
    throw this.#gate.timeout(setOf(this.#targets), waitMs);
  }
}
