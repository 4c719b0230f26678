import { now } from '../async/clock.js';
import { nextTurn } from '../async/loop-turn.js';
import { checkMs, checkSignal, checkWork } from '../contract/check.js';
import { LockTimeoutError } from '../contract/errors.js';
import type { Lease } from '../contract/lease.js';
import type { AcquireOptions, Lock, UsingOptions } from '../contract/lock.js';
import type { Placed } from '../contract/placed.js';
import { MultiLease, releaseInReverse } from './multi-lease.js';
import { SetRound } from './set-round.js';
import { isTimeout, trying } from './time-out.js';

export interface Member {
  readonly key: string;
  readonly identity: string;
  readonly lock: Lock;
  /** Told when it is this one that the set waits for. */
  readonly awaited?: () => void;
}

/** Runs `work` with the set's lease as the current one. */
export type Enclose = <T>(lease: Lease, work: () => T | Promise<T>) => Promise<T>;

/** What the set needs of the calls that it is acquired in. */
export interface CallScope {
  readonly enclose: Enclose;
  /** What the running code holds, innermost first. */
  readonly heldLeases: () => Iterable<Lease>;
  /** The options of a call of that method, with the place that it comes from. */
  readonly placed: <O extends object>(options: O | undefined, lock: object, verb: string) => Partial<O> & Placed;
  /** Sees that a set that is complete is not held for too long. */
  readonly watch: (set: MultiLease, options: AcquireOptions & Placed) => void;
}

/** One acquisition of a set, in one of its rounds. */
interface Attempt {
  readonly options: UsingOptions & Placed;
  readonly round: SetRound;
  /** The options for the next member, with what is left of the time. */
  readonly next: () => UsingOptions;
  /** Why a member could not be had. */
  readonly told: (error: unknown, key: string) => unknown;
}

const LOST_BEFORE = 'was lost or revoked before all of its keys were there';

/**
 * All keys or none. The members are acquired one after another in one fixed order (by the backend's identity of the
 * key, whatever order the caller wrote), so that two callers who want the same keys in opposite orders wait for each
 * other at the first one and cannot deadlock; they are released in reverse. One deadline covers the set.
 *
 * A set that loses a member before it has all gives back the others and lines up again, for as long as its time lasts;
 * so does one that is asked to give way. After that, the set is lost as soon as one member is.
 */
export class MultiLock implements Lock {
  readonly #members: readonly Member[];
  readonly #waitMs: number;
  readonly #scope: CallScope;

  /** @internal */
  constructor(members: readonly Member[], waitMs: number, scope: CallScope) {
    this.#members = inFixedOrder(members);
    this.#waitMs = waitMs;
    this.#scope = scope;
  }

  /** @throws LockTimeoutError, LockUnavailableError, LockReentrancyError, LockConfigurationError; nothing is held then */
  async acquire(options?: AcquireOptions): Promise<MultiLease> {
    return this.#inRounds(this.#scope.placed(options, this, 'acquire'), (attempt) => this.#takeAll(attempt));
  }

  /** `null` when one of the keys is not to be had; `waitMs` is 0 unless given. @throws as `acquire`, but for the time-out */
  async tryAcquire(options?: AcquireOptions): Promise<MultiLease | null> {
    return trying((once) => this.acquire(once), this.#scope.placed(options, this, 'tryAcquire'));
  }

  /**
   * Enters what the calling context already holds, and acquires the rest.
   * @throws as `acquire`; LockLostError after `work` has ended, when a member was lost meanwhile; what `work` throws
   */
  async using<T>(work: (lease: MultiLease) => T | Promise<T>, options?: UsingOptions): Promise<T> {
    checkWork(work);
    const asked = this.#scope.placed(options, this, 'using');
    return this.#inRounds(asked, (attempt) => this.#usingFrom(0, [], work, attempt));
  }

  /** Begins again while there is time, each time that the round was broken. */
  async #inRounds<T>(options: UsingOptions & Placed, run: (attempt: Attempt) => Promise<T>): Promise<T> {
    const waitMs = options.waitMs ?? this.#waitMs;
    const remaining = countdown(waitMs);
    checkSignal(options.signal);
    for (;;) {
      const round = new SetRound(options.signal, this.#scope.heldLeases());
      const next = () => ({ ...options, signal: round.signal, waitMs: remaining() });
      const told = (error: unknown, key: string) => timeoutOf(round.refused(error), key, waitMs, options);
      try {
        return await run({ options, round, next, told });
      } catch (error) {
        if (!round.isBrokenBy(error)) throw error;
        options.signal?.throwIfAborted();
        if (remaining() === 0) throw new LockTimeoutError(this.#key, waitMs, LOST_BEFORE);
        // However often a round is broken, timers and answers of the servers get their turn.
        await nextTurn();
      } finally {
        round.end();
      }
    }
  }

  async #takeAll({ options, round, next, told }: Attempt): Promise<MultiLease> {
    const leases: Lease[] = [];
    try {
      for (const { key, lock, awaited } of this.#members) {
        awaited?.();
        const lease = await lock.acquire(next()).catch((error: unknown) => Promise.reject(told(error, key)));
        leases.push(lease);
        round.granted(lease);
      }
      round.complete(leases);
      return this.#complete(leases, options);
    } catch (error) {
      // What goes wrong with a release must not hide why the set is given back.
      await releaseInReverse(leases).catch(() => {});
      throw error;
    }
  }

  async #usingFrom<T>(
    place: number,
    leases: readonly Lease[],
    work: (lease: MultiLease) => T | Promise<T>,
    attempt: Attempt,
  ): Promise<T> {
    const member = this.#members[place];
    if (!member) return this.#work(leases, work, attempt);
    let isGranted = false;
    const next = (lease: Lease) => {
      isGranted = true;
      attempt.round.granted(lease);
      return this.#usingFrom(place + 1, [...leases, lease], work, attempt);
    };
    member.awaited?.();
    return member.lock.using(next, attempt.next()).catch((error: unknown) => {
      throw isGranted ? error : attempt.told(error, member.key);
    });
  }

  // The members are given back by those who took them: one may belong to a call further out.
  async #work<T>(
    leases: readonly Lease[],
    work: (lease: MultiLease) => T | Promise<T>,
    { options, round }: Attempt,
  ): Promise<T> {
    round.complete(leases);
    const set = this.#complete(leases, options);
    try {
      return await this.#scope.enclose(set, () => work(set));
    } finally {
      set.detach();
    }
  }

  #complete(leases: readonly Lease[], options: AcquireOptions & Placed): MultiLease {
    const set = new MultiLease(leases);
    this.#scope.watch(set, options);
    return set;
  }

  get #key(): string {
    return this.#members.map(({ key }) => key).join(', ');
  }
}

/** Each key once, by the backend's identity of it. */
export function inFixedOrder<T extends Pick<Member, 'identity'>>(members: readonly T[]): readonly T[] {
  const distinct = new Map(members.map((member) => [member.identity, member]));
  return [...distinct.values()].sort((a, b) => (a.identity < b.identity ? -1 : 1));
}

/** A member's time-out, told with the time that the whole set was given; a caller's own reason stays as it is. */
function timeoutOf(error: unknown, key: string, waitMs: number, options: AcquireOptions): unknown {
  return isTimeout(error, options) ? new LockTimeoutError(key, waitMs, undefined, error.holders) : error;
}

function countdown(waitMs: number): () => number {
  checkMs('waitMs', waitMs);
  const end = now() + waitMs;
  return () => Math.max(0, end - now());
}
