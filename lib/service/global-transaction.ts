import { Logger } from '@nestjs/common';
import { anyAbort, onAbort, OwnAbortController } from '../async/abort.js';
import type { Dispose } from '../async/abort.js';
import { now } from '../async/clock.js';
import { MultiLease } from '../composite/multi-lease.js';
import { resolveAcquireOptions } from '../contract/acquire.options.js';
import type { ResolvedAcquireOptions } from '../contract/acquire.options.js';
import { check, checkFields } from '../contract/check.js';
import { LockConfigurationError, LockTimeoutError } from '../contract/errors.js';
import type { Lease } from '../contract/lease.js';
import type { AcquireOptions, Lock } from '../contract/lock.js';
import { EnteredLease } from './reentrant-hold.js';
import { assertStands, HoldScope } from './held-leases.js';
import type { LockTarget } from './lock-targets.js';

export interface GlobalTransactionOptions extends Pick<AcquireOptions, 'label'> {
  /**
   * How long the transaction waits for rows, in milliseconds, all its waits together; time that it works does not count.
   * 0 asks once for each row. Default: the module's `waitMs`.
   */
  readonly waitMs?: number | undefined;
  /** Gives up waiting for a row: `lock` rejects with `signal.reason`, untouched. Rows that are locked stay so. */
  readonly signal?: AbortSignal | undefined;
}

/** The leases on several rows, one for each key. */
export type RowLeases<K extends readonly string[]> = { readonly [Place in keyof K]: Lease };

/** @internal What a transaction needs of the connection that its rows are locked on. */
export interface RowLocks {
  readonly waitMs: number;
  targetOf(key: string): LockTarget;
  /** All of the keys or none. */
  lockOn(keys: readonly string[]): Pick<Lock, 'acquire'>;
}

type Undo = () => unknown;

const FIELDS = ['waitMs', 'signal', 'label'];
const logger = new Logger('GlobalTransaction');

/**
 * A transaction over several stores, each of which commits its own part. A row is locked from its first `lock` until the
 * whole transaction has been committed, or every branch has been rolled back; so no other transaction sees a half.
 *
 * When a lease on one of its rows is lost, as with the session, `signal` aborts, no branch begins any more, and the
 * transaction ends with the `LockLostError`. What its branches committed is rolled back without the lock then: pass the
 * rows' fencing tokens along, and let the stores refuse a smaller one.
 */
export class GlobalTransaction {
  /** Aborts when the first of the leases is lost (`LockLostError`) or asked to give way (`LockRevokedError`). */
  readonly signal: AbortSignal;
  readonly #locks: RowLocks;
  readonly #options: ResolvedAcquireOptions;
  readonly #scope = new HoldScope();
  readonly #ended = new OwnAbortController();
  readonly #disposals: Dispose[] = [];
  readonly #failed = new OwnAbortController();
  readonly #rows = new Map<string, Lease>();
  readonly #undone: Undo[] = [];
  readonly #underWay = new Set<Promise<unknown>>();
  #set = new MultiLease([]);
  #lastLock: Promise<unknown> = Promise.resolve();
  #leftMs: number;
  #isOver = false;

  /** @internal */
  constructor(locks: RowLocks, options: GlobalTransactionOptions) {
    checkFields('global transaction options', options, FIELDS);
    this.#locks = locks;
    this.#options = resolveAcquireOptions(options, locks);
    this.#leftMs = this.#options.waitMs;
    this.signal = this.#ended.signal;
  }

  /** One lease for each row, in the order in which they were locked. */
  get leases(): readonly Lease[] {
    return [...this.#rows.values()];
  }

  /**
   * Locks rows until the transaction has ended; those that it has are not locked twice. Several keys at once are all locked
   * or none, in one fixed order: two transactions that name all their rows in one call never wait for each other in a circle.
   * Nested calls enter the rows: `using` and the decorators.
   * @returns the lease of the row, or of each; `release` does nothing
   * @throws LockTimeoutError when the transaction has waited for `waitMs`; LockUnavailableError, LockShutdownError,
   *   LockConfigurationError; LockReentrancyError for a key that the calling method holds; `signal.reason` once a lease
   *   was lost or revoked. The rows that were locked before stay locked.
   */
  lock(key: string): Promise<Lease>;
  lock<const K extends readonly string[]>(keys: K): Promise<RowLeases<K>>;
  async lock(keys: string | readonly string[]): Promise<Lease | readonly Lease[]> {
    return this.#during('lock', async () => {
      const targets = [keys].flat().map((key) => this.#locks.targetOf(key));
      check(targets.length > 0, 'lock: keys', keys, 'an array of at least one key');
      // One after another: a row that two branches want at once is locked once.
      const locked = this.#lastLock.then(() => this.#lockAll(targets));
      this.#lastLock = locked.catch(() => {});
      await locked;
      const leases = targets.map(({ identity }) => this.#rows.get(identity) as Lease);
      return typeof keys === 'string' ? (leases[0] as Lease) : leases;
    });
  }

  /**
   * One store's part of the transaction: `commit` commits in that store. When the transaction fails, `rollBack` takes it
   * back, with what `commit` returned; the latest branch first, and while all rows are still locked.
   *
   * A branch whose `commit` rejects is not rolled back: it must have left nothing behind, as a local transaction does.
   * A `rollBack` that rejects is logged as an error; the others are rolled back all the same.
   * @throws LockLostError, before `commit` is called, when a lease was lost; what `commit` throws
   */
  async branch<T>(commit: () => T | Promise<T>, rollBack: (committed: T) => unknown): Promise<T> {
    check(typeof commit === 'function', 'branch: commit', commit, 'a function');
    check(typeof rollBack === 'function', 'branch: rollBack', rollBack, 'a function');
    return this.#during('branch', async () => {
      this.assertHeld();
      const committed = await commit();
      this.#undone.push(() => rollBack(committed));
      return committed;
    });
  }

  /**
   * Throws unless every row is still locked; call it right before a step that is no branch. Needs no round trip.
   * @throws LockLostError
   */
  assertHeld(): void {
    this.leases.forEach(assertStands);
  }

  /** @internal Runs the work, then commits or rolls back, then gives the rows back. */
  async run<T>(work: (transaction: GlobalTransaction) => T | Promise<T>): Promise<T> {
    try {
      const result = await this.#scope.run(async () => work(this));
      await this.#close();
      this.assertHeld();
      return result;
    } catch (error) {
      // Nobody has a use for further rows; what is under way may still commit.
      this.#failed.abort(error);
      await this.#close().catch(() => {});
      await this.#scope.run(() => this.#rollBack());
      throw error;
    } finally {
      this.#disposals.splice(0).forEach((dispose) => dispose());
      await this.#scope.end();
    }
  }

  /** Waits for what is under way. @throws what the first that fails throws */
  async #close(): Promise<void> {
    this.#isOver = true;
    const settled = await Promise.allSettled(this.#underWay);
    for (const one of settled) if (one.status === 'rejected') throw one.reason;
  }

  async #rollBack(): Promise<void> {
    for (const undo of this.#undone.splice(0).reverse()) {
      try {
        await undo();
      } catch (error) {
        logger.error(
          `global transaction "${this.#title}": a branch could not be rolled back, and stays committed`,
          error,
        );
      }
    }
  }

  async #lockAll(targets: readonly LockTarget[]): Promise<void> {
    this.signal.throwIfAborted();
    this.#failed.signal.throwIfAborted();
    const wanted = new Map(targets.map((target) => [target.identity, target]));
    const missing = [...wanted.values()].filter(({ identity }) => !this.#rows.has(identity));
    if (missing.length > 0) this.#hold(missing, await this.#acquire(missing.map(({ key }) => key)));
  }

  async #acquire(keys: readonly string[]): Promise<readonly Lease[]> {
    const { label, signal } = this.#options;
    const begun = now();
    const limits = anyAbort([signal, this.signal, this.#failed.signal]);
    const options = { waitMs: this.#leftMs, signal: limits.signal, ...(label !== undefined && { label }) };
    try {
      const { leases } = (await this.#locks.lockOn(keys).acquire(options)) as MultiLease;
      return leases;
    } catch (error) {
      // Its timers may have ended the wait a little early.
      if (error instanceof LockTimeoutError) this.#leftMs = 0;
      throw error;
    } finally {
      limits.dispose();
      this.#leftMs = Math.max(0, Math.floor(this.#leftMs - (now() - begun)));
    }
  }

  #hold(targets: readonly LockTarget[], granted: readonly Lease[]): void {
    const members = targets.map((holding) => ({
      holding,
      lease: granted.find(({ key }) => key === holding.key) as Lease,
    }));
    for (const { holding, lease } of members) {
      this.#rows.set(holding.identity, new EnteredLease(lease));
      this.#disposals.push(onAbort(lease.signal, (reason) => this.#ended.abort(reason)));
    }
    const set = (this.#set = new MultiLease(this.leases));
    this.#disposals.push(() => set.detach());
    this.#scope.hold(members, this.#set);
  }

  /** @throws LockConfigurationError when the transaction has ended */
  async #during<T>(call: string, task: () => Promise<T>): Promise<T> {
    if (this.#isOver) {
      throw new LockConfigurationError(
        `${call}() was called when the global transaction was over: await in its work all that it starts`,
      );
    }
    const result = task();
    this.#underWay.add(result);
    const settled = () => this.#underWay.delete(result);
    result.then(settled, settled);
    return result;
  }

  get #title(): string {
    return this.#options.label ?? this.#set.key;
  }
}
