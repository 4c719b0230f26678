import { Logger } from '@nestjs/common';
import { onAbort, OwnAbortController, withAnyAbort } from '../async/abort.js';
import type { Dispose } from '../async/abort.js';
import { now } from '../async/clock.js';
import { MultiLease } from '../composite/multi-lease.js';
import { resolveAcquireOptions } from '../contract/acquire.options.js';
import type { ResolvedAcquireOptions } from '../contract/acquire.options.js';
import { check, checkFields } from '../contract/check.js';
import { LockConfigurationError, LockTimeoutError } from '../contract/errors.js';
import type { Lease } from '../contract/lease.js';
import type { AcquireOptions, Lock } from '../contract/lock.js';
import { assertStands, EnteredLease, HoldScope, notReleased, ReentrantHold } from './hold-scope.js';
import type { LockTarget } from './lock-targets.js';

/** The options of a global transaction. */
export interface GlobalTransactionOptions extends Pick<AcquireOptions, 'label'> {
  /**
   * Total time that the transaction waits for rows, in milliseconds. Time that it works does not count. 0 tries once
   * for each row. Default: the module's `waitMs`.
   */
  readonly waitMs?: number | undefined;
  /** Aborts the wait for a row: `lock` rejects with `signal.reason`, untouched. Locked rows remain locked. */
  readonly signal?: AbortSignal | undefined;
}

/** The leases on several rows, one for each key. */
export type RowLeases<K extends readonly string[]> = { readonly [Place in keyof K]: Lease };

/** @internal The parts of a connection that a transaction needs to lock rows. */
export interface RowLocks {
  readonly waitMs: number;
  targetOf(key: string): LockTarget;
  /** Returns the lock on all of the keys or none. */
  lockOn(keys: readonly string[]): Pick<Lock, 'acquire'>;
}

type Undo = () => unknown;

const FIELDS = ['waitMs', 'signal', 'label'];
const logger = new Logger('GlobalTransaction');

/**
 * A transaction over several stores, each of which commits its own part. A row is locked from its first `lock` until
 * the whole transaction has been committed, or every branch has been rolled back. So no other transaction sees a part
 * of it.
 *
 * When a lease on one of its rows is lost, as after a session loss, `signal` aborts and no further branch begins. The
 * transaction ends with the `LockLostError`. The committed branches are then rolled back without the lock. So pass the
 * rows' fencing tokens to the stores, and make them reject a smaller one.
 */
export class GlobalTransaction {
  /** Aborts when the first of the leases is lost (`LockLostError`) or revoked (`LockRevokedError`). */
  readonly signal: AbortSignal;
  readonly #locks: RowLocks;
  readonly #options: ResolvedAcquireOptions;
  /** The work's scope. Nested calls re-enter the rows that it has locked so far. */
  readonly #scope = new HoldScope();
  readonly #releases: (() => Promise<void>)[] = [];
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

  /** The leases, one for each row, in the order in which they were locked. */
  get leases(): readonly Lease[] {
    return [...this.#rows.values()];
  }

  /**
   * Locks rows until the transaction has ended. Rows that it has already locked are not locked twice. Several keys at
   * once are all locked or none, in one fixed order. So two transactions that name all their rows in one call never
   * deadlock. Nested calls of `using` and of decorated methods re-enter the rows.
   * @returns the lease of the row, or of each row; `release` does nothing
   * @throws LockTimeoutError when the transaction has waited for `waitMs`; LockUnavailableError, LockShutdownError,
   *   LockConfigurationError; LockReentrancyError for a key that the calling method holds; `signal.reason` once a lease
   *   was lost or revoked. Rows that were locked before remain locked.
   */
  lock(key: string): Promise<Lease>;
  lock<const K extends readonly string[]>(keys: K): Promise<RowLeases<K>>;
  async lock(keys: string | readonly string[]): Promise<Lease | readonly Lease[]> {
    return this.#during('lock', async () => {
      const targets = [keys].flat().map((key) => this.#locks.targetOf(key));
      check(targets.length > 0, 'lock: keys', keys, 'an array of at least one key');
      // One after another, so that a row that two branches want at once is locked once.
      const locked = this.#lastLock.then(() => this.#lockAll(targets));
      this.#lastLock = locked.catch(() => {});
      await locked;
      const leases = targets.map(({ identity }) => this.#rows.get(identity) as Lease);
      return typeof keys === 'string' ? (leases[0] as Lease) : leases;
    });
  }

  /**
   * Runs one store's part of the transaction: `commit` commits in that store. If the transaction fails, `rollBack`
   * reverts it, with the value that `commit` returned. Branches are rolled back latest first, while all rows are still
   * locked.
   *
   * A branch whose `commit` rejects is not rolled back: like a local transaction, it must not have changed anything. A
   * `rollBack` that rejects is logged as an error; the others are rolled back all the same.
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
   * Throws unless every row is still locked. Call it right before a step that is not a branch. Needs no round trip.
   * @throws LockLostError
   */
  assertHeld(): void {
    this.leases.forEach(assertStands);
  }

  /** @internal Runs the work, commits or rolls back, and then releases the rows. */
  async run<T>(work: (transaction: GlobalTransaction) => T | Promise<T>): Promise<T> {
    try {
      const result = await this.#scope.run(async () => work(this));
      await this.#close();
      this.assertHeld();
      return result;
    } catch (error) {
      // No further rows are needed. Branches in progress may still commit.
      this.#failed.abort(error);
      await this.#close().catch(() => {});
      await this.#scope.run(() => this.#rollBack());
      throw error;
    } finally {
      this.#disposals.splice(0).forEach((dispose) => dispose());
      this.#scope.end();
      // Not one after the other: releases in one turn are one transaction.
      await Promise.all(this.#releases.map((release) => release()));
    }
  }

  /** Waits for all calls in progress. @throws the error of the first that fails */
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
    const options = { waitMs: this.#leftMs, ...(label !== undefined && { label }) };
    try {
      const { leases } = await withAnyAbort([signal, this.signal, this.#failed.signal], async (limit) => {
        return (await this.#locks.lockOn(keys).acquire({ ...options, signal: limit })) as MultiLease;
      });
      return leases;
    } catch (error) {
      // The timers may have ended the wait a little early.
      if (error instanceof LockTimeoutError) this.#leftMs = 0;
      throw error;
    } finally {
      this.#leftMs = Math.max(0, Math.floor(this.#leftMs - (now() - begun)));
    }
  }

  #hold(targets: readonly LockTarget[], granted: readonly Lease[]): void {
    const spans = targets.map((target) => {
      const lease = granted.find(({ key }) => key === target.key) as Lease;
      this.#rows.set(target.identity, new EnteredLease(lease));
      this.#disposals.push(onAbort(lease.signal, (reason) => this.#ended.abort(reason)));
      return { reentrantHold: new ReentrantHold(lease, target), lease };
    });
    const set = (this.#set = new MultiLease(this.leases));
    this.#disposals.push(() => set.detach());
    const scopes = this.#scope.grow({ reentrantHold: notReleased(set), lease: set }, spans);
    spans.forEach(({ reentrantHold, lease }, place) => {
      const { mode } = lease;
      this.#releases.push(() => {
        scopes[place]?.end();
        return reentrantHold.leave(mode);
      });
    });
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
