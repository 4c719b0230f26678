import type { GrantedLease } from '../../contract/granted-lease.js';
import type { LockBackend } from '../../contract/lock-backend.js';
import type { AcquisitionOptions } from '../../service/acquisition-gate.js';
import { AcquisitionGate } from '../../service/acquisition-gate.js';
import type { LockTarget } from '../../service/lock-targets.js';
import type { Journal } from './journal.js';
import { JournalledAcquisition } from './journalled-acquisition.js';

/**
 * The acquisition gate of a test. It records every request and its outcome, and limits waits to `longestWaitMs`. Every
 * request for a lease passes through it: locks of all kinds, permits, segments, candidates.
 */
export class JournalledGate extends AcquisitionGate {
  readonly #journal: Journal;
  readonly #longestWaitMs: number;

  constructor(backend: LockBackend, connection: string, journal: Journal, longestWaitMs: number) {
    super(backend, connection);
    this.#journal = journal;
    this.#longestWaitMs = longestWaitMs;
  }

  /** A wait without an end stays so. */
  override waitMsOf(waitMs: number): number {
    return waitMs === Infinity ? waitMs : Math.min(waitMs, this.#longestWaitMs);
  }

  override async acquire(target: LockTarget, options: AcquisitionOptions): Promise<GrantedLease> {
    const acquisition = this.#acquisition(target, options);
    return acquisition.follow(() => super.acquire(target, this.#within(options)));
  }

  override async tryAcquire(target: LockTarget, options: AcquisitionOptions): Promise<GrantedLease | null> {
    const acquisition = this.#acquisition(target, options);
    return acquisition.follow(() => super.tryAcquire(target, this.#within(options)));
  }

  override async acquireAll(
    targets: readonly [LockTarget, ...LockTarget[]],
    options: AcquisitionOptions,
  ): Promise<readonly GrantedLease[] | null> {
    const asked = super.acquireAll(targets, this.#within(options));
    const each = targets.map((target, place) =>
      this.#acquisition(target, options).follow(async () => (await asked)?.[place] ?? null),
    );
    await Promise.allSettled(each);
    return asked;
  }

  #acquisition({ key, mode, ask }: LockTarget, { label }: AcquisitionOptions): JournalledAcquisition {
    return new JournalledAcquisition(this.#journal, { key, mode: ask ? 'leader' : mode, label });
  }

  #within(options: AcquisitionOptions): AcquisitionOptions {
    return { ...options, waitMs: this.waitMsOf(options.waitMs), leftMs: this.waitMsOf(options.leftMs) };
  }
}
