import { now } from '../async/clock.js';
import { checkMs } from '../contract/check.js';
import { LockTimeoutError } from '../contract/errors.js';
import type { Lease } from '../contract/lease.js';
import type { AcquireOptions, Lock, UsingOptions } from '../contract/lock.js';
import { MultiLease, releaseInReverse } from './multi-lease.js';
import { isTimeout, trying } from './time-out.js';

export interface Member {
  readonly key: string;
  readonly identity: string;
  readonly lock: Lock;
}

/** Runs `work` with the set's lease as the current one. */
export type Enclose = <T>(lease: Lease, work: () => T | Promise<T>) => Promise<T>;

/**
 * All keys or none. The members are acquired one after another in one fixed order (by the backend's identity of the
 * key, whatever order the caller wrote), so that two callers who want the same keys in opposite orders wait for each
 * other at the first one and cannot deadlock; they are released in reverse. One deadline covers the set.
 *
 * The set is lost as soon as one member is, after a session loss with all of them.
 */
export class MultiLock implements Lock {
  readonly #members: readonly Member[];
  readonly #waitMs: number;
  readonly #enclose: Enclose;

  /** @internal */
  constructor(members: readonly Member[], waitMs: number, enclose: Enclose) {
    this.#members = inFixedOrder(members);
    this.#waitMs = waitMs;
    this.#enclose = enclose;
  }

  /** @throws LockTimeoutError, LockUnavailableError, LockReentrancyError, LockConfigurationError; nothing is held then */
  async acquire(options: AcquireOptions = {}): Promise<MultiLease> {
    const waitMs = options.waitMs ?? this.#waitMs;
    const remaining = countdown(waitMs);
    const leases: Lease[] = [];
    for (const { key, lock } of this.#members) {
      const attempt = lock.acquire({ ...options, waitMs: remaining() });
      leases.push(
        await attempt.catch((error: unknown) => this.#giveUp(leases, timeoutOf(error, key, waitMs, options))),
      );
    }
    const set = new MultiLease(leases);
    if (!set.isHeld()) await this.#giveUp(leases, set.signal.reason);
    return set;
  }

  /** `null` when one of the keys is not to be had; `waitMs` is 0 unless given. @throws as `acquire`, but for the time-out */
  async tryAcquire(options: AcquireOptions = {}): Promise<MultiLease | null> {
    return trying((once) => this.acquire(once), options);
  }

  /**
   * Enters what the calling context already holds, and acquires the rest.
   * @throws as `acquire`; LockLostError after `work` has ended, when a member was lost meanwhile; what `work` throws
   */
  async using<T>(work: (lease: MultiLease) => T | Promise<T>, options: UsingOptions = {}): Promise<T> {
    const waitMs = options.waitMs ?? this.#waitMs;
    return this.#usingFrom(0, [], work, options, waitMs, countdown(waitMs));
  }

  async #usingFrom<T>(
    place: number,
    leases: readonly Lease[],
    work: (lease: MultiLease) => T | Promise<T>,
    options: UsingOptions,
    waitMs: number,
    remaining: () => number,
  ): Promise<T> {
    const member = this.#members[place];
    if (!member) return this.#work(leases, work);
    let isGranted = false;
    const next = (lease: Lease) => {
      isGranted = true;
      return this.#usingFrom(place + 1, [...leases, lease], work, options, waitMs, remaining);
    };
    return member.lock.using(next, { ...options, waitMs: remaining() }).catch((error: unknown) => {
      throw isGranted ? error : timeoutOf(error, member.key, waitMs, options);
    });
  }

  // The members are given back by those who took them: one may belong to a call further out.
  async #work<T>(leases: readonly Lease[], work: (lease: MultiLease) => T | Promise<T>): Promise<T> {
    const set = new MultiLease(leases);
    try {
      if (!set.isHeld()) throw set.signal.reason;
      return await this.#enclose(set, () => work(set));
    } finally {
      set.detach();
    }
  }

  async #giveUp(leases: readonly Lease[], error: unknown): Promise<never> {
    await releaseInReverse(leases);
    throw error;
  }
}

/** Each key once, by the backend's identity of it. */
export function inFixedOrder<T extends Pick<Member, 'identity'>>(members: readonly T[]): readonly T[] {
  const distinct = new Map(members.map((member) => [member.identity, member]));
  return [...distinct.values()].sort((a, b) => (a.identity < b.identity ? -1 : 1));
}

/** A member's time-out, told with the time that the whole set was given; a caller's own reason stays as it is. */
function timeoutOf(error: unknown, key: string, waitMs: number, options: AcquireOptions): unknown {
  return isTimeout(error, options) ? new LockTimeoutError(key, waitMs) : error;
}

function countdown(waitMs: number): () => number {
  checkMs('waitMs', waitMs);
  const end = now() + waitMs;
  return () => Math.max(0, end - now());
}
