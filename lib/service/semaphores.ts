import { NEVER, orAbort } from '../async/abort.js';
import { now } from '../async/clock.js';
import { resolveAcquireOptions } from '../contract/acquire.options.js';
import type { HoldingOptions, ResolvedAcquireOptions } from '../contract/acquire.options.js';
import { checkWork, PLACE } from '../contract/check.js';
import type { Placed } from '../contract/check.js';
import { LockConfigurationError, LockReentrancyError } from '../contract/errors.js';
import type { Lease } from '../contract/lease.js';
import type { SemaphoreSize } from '../contract/lock-request.js';
import { checkDemand, checkPermits, resolveSemaphoreOptions } from '../contract/semaphore.options.js';
import type {
  PermitCounts,
  SemaphoreAcquireOptions,
  SemaphoreLock,
  SemaphoreOptions,
  SemaphoreUsingOptions,
} from '../contract/semaphore.options.js';
import type { AcquisitionGate, AcquisitionOptions } from './acquisition-gate.js';
import { placed } from './hold-watch.js';
import { runHolding } from './held-leases.js';
import { mustNotHoldAtomicSet, permitsHeld } from './hold-scope.js';
import type { LockConnection } from './lock-connection.js';
import type { LockTarget } from './lock-targets.js';

/** The semaphores of one connection. */
export class Semaphores {
  readonly #connection: LockConnection;

  constructor(connection: LockConnection) {
    this.#connection = connection;
  }

  lockOn(key: string, options: SemaphoreOptions): SemaphoreLock {
    const size = resolveSemaphoreOptions(options);
    const { gate, keys, backend } = this.#connection;
    const { permitCounts: counts, name } = backend;
    if (!counts) throw new LockConfigurationError(`the backend "${name}" has no semaphores`, { key });
    if (size.sharedCount !== undefined) keys.identify(size.sharedCount);
    return new CountedLock(gate, counts, this.#targetOf(key, size), size);
  }

  #targetOf(key: string, options: HoldingOptions): LockTarget {
    const { backend: scope, keys, targets, waitMs } = this.#connection;
    const identity = identityOfPermits(keys.identify(key));
    const holding = targets.holdingOf(options);
    const { onLost } = targets;
    // Callers of one process share no contender here: each permit is a znode of its own.
    const sharing = { localLine: false, keepMs: 0 };
    return {
      ...sharing,
      scope,
      identity,
      key,
      kind: 'semaphore',
      mode: 'permit',
      line: 'fifo',
      waitMs,
      onLost,
      holding,
    };
  }
}

/**
 * Returns the identity of a key's permits. It differs from the key's own identity, because the holder of a permit does
 * not hold the key. No key ends like this.
 */
export function identityOfPermits(identity: string): string {
  return `${identity}/`;
}

/** One call's request. */
interface Demand {
  readonly options: ResolvedAcquireOptions;
  /** Remaining time that it waits, in milliseconds. */
  readonly leftMs: number;
  readonly target: LockTarget;
}

/**
 * The semaphore on one key. Options become a deadline, and every call has a contender of its own in the backend's
 * queue.
 */
class CountedLock implements SemaphoreLock {
  readonly #gate: AcquisitionGate;
  readonly #counts: PermitCounts;
  readonly #target: LockTarget;
  readonly #size: SemaphoreSize;

  constructor(gate: AcquisitionGate, counts: PermitCounts, target: LockTarget, size: SemaphoreSize) {
    this.#gate = gate;
    this.#counts = counts;
    this.#target = target;
    this.#size = size;
  }

  async acquire(options?: SemaphoreAcquireOptions): Promise<Lease> {
    const demand = await this.#demand(placed(options, this.#target, this, 'acquire'), this.#target.waitMs);
    return this.#gate.acquire(demand.target, acquisition(demand, true));
  }

  async tryAcquire(options?: SemaphoreAcquireOptions): Promise<Lease | null> {
    const demand = await this.#demand(placed(options, this.#target, this, 'tryAcquire'), 0);
    return this.#gate.tryAcquire(demand.target, acquisition(demand, true));
  }

  async using<T>(work: (lease: Lease) => T | Promise<T>, options?: SemaphoreUsingOptions): Promise<T> {
    checkWork(work);
    const demand = await this.#demand(placed(options, this.#target, this, 'using'), this.#target.waitMs);
    const lease = await this.#gate.acquire(demand.target, acquisition(demand, false));
    return runHolding(lease, demand.target, demand.options, work);
  }

  permits(): Promise<number> {
    return this.#counts.read(this.#target.key, this.#size);
  }

  async setPermits(permits: number): Promise<void> {
    checkPermits(permits, 0);
    await this.#counts.set(this.#target.key, this.#size, permits);
  }

  async #demand(options: SemaphoreUsingOptions & Placed, waitMs: number): Promise<Demand> {
    const { permits: count = 1, ...others } = options;
    const resolved = resolveAcquireOptions(others, { waitMs, onLost: this.#target.onLost });
    checkDemand(count);
    mustNotHoldAtomicSet(this.#target.key);
    const target = { ...this.#target, permits: { count, of: this.#size } };
    const tookMs = await this.#checkNesting(target, count, resolved);
    resolved.signal?.throwIfAborted();
    return { options: resolved, leftMs: Math.max(0, resolved.waitMs - tookMs), target };
  }

  /**
   * Throws if the running code would wait for its own permits: it does not release them before it has got more.
   * @returns the duration of the check, in milliseconds
   */
  async #checkNesting(target: LockTarget, wanted: number, options: ResolvedAcquireOptions): Promise<number> {
    const [held, begun] = [permitsHeld(target), now()];
    if (held === 0) return 0;
    if (!options.reentrant) throw new LockReentrancyError(target.key, 'reentrant is false');
    if (held + wanted <= (await orAbort(this.permits(), options.signal ?? NEVER))) return now() - begun;
    throw new LockReentrancyError(target.key, `with ${held} permits held, ${wanted} more could only wait for these`);
  }
}

function acquisition({ options, leftMs }: Demand, isHandle: boolean): AcquisitionOptions {
  const { waitMs, signal, label, [PLACE]: place } = options;
  return { waitMs, leftMs, signal, label, place, isHandle };
}
