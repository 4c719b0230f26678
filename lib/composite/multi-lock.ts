import { anyAbort, onAbort, OwnAbortController } from '../async/abort.js';
import type { Dispose } from '../async/abort.js';
import { now } from '../async/clock.js';
import { nextTurn } from '../async/timer.js';
import { checkMs, checkSignal, checkWork } from '../contract/check.js';
import type { Placed } from '../contract/check.js';
import { LockLostError, LockRevokedError, LockTimeoutError } from '../contract/errors.js';
import type { LockError } from '../contract/errors.js';
import type { Lease } from '../contract/lease.js';
import type { AcquireOptions, Lock, UsingOptions } from '../contract/lock.js';
import { isTimeout, trying } from './deadline.js';
import { MultiLease, releaseInReverse } from './multi-lease.js';

interface Member {
  readonly key: string;
  readonly identity: string;
  readonly lock: Lock;
  /** Called when the set begins to wait for this member. */
  readonly awaited?: () => void;
}

/** Runs `work` with the set's lease as the current one. */
type Enclose = <T>(lease: Lease, work: () => T | Promise<T>) => Promise<T>;

/** The functions of the calling context that a set needs. */
export interface CallScope {
  readonly enclose: Enclose;
  /** The leases that the calling context holds, innermost first. */
  readonly heldLeases: () => Iterable<Lease>;
  /** The options of a call of `verb`, with the place of the call. */
  readonly placed: <O extends object>(options: O | undefined, lock: object, verb: string) => Partial<O> & Placed;
  /** Watches for how long a complete set is held. */
  readonly watch: (set: MultiLease, options: AcquireOptions & Placed) => void;
}

/** One round of the acquisition of a set. */
interface Attempt {
  readonly options: UsingOptions & Placed;
  readonly round: SetRound;
  /** Returns the options for the next member, with the remaining `waitMs`. */
  readonly next: () => UsingOptions;
  /** Returns the error to throw for a member that was not granted. */
  readonly told: (error: unknown, key: string) => unknown;
}

const LOST_BEFORE = 'was lost or revoked before all of its keys were there';

/**
 * A lock on several keys: all or none.
 *
 * The members are acquired one after another in one fixed order: by the backend's identity of the key, not as the
 * caller wrote them. Two callers that want the same keys in opposite orders wait for each other at the first key, and
 * cannot deadlock. The members are released in reverse order. One deadline covers the set.
 *
 * A set that loses a member before it has all of them releases the others and queues again, until the deadline. So does
 * a set of which a member is revoked by then. A complete set is lost as soon as one member is.
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

  /**
   * @throws LockTimeoutError, LockUnavailableError, LockReentrancyError, LockConfigurationError; then no key is held
   */
  async acquire(options?: AcquireOptions): Promise<MultiLease> {
    return this.#inRounds(this.#scope.placed(options, this, 'acquire'), (attempt) => this.#takeAll(attempt));
  }

  /**
   * Returns `null` when one of the keys is not available. `waitMs` is 0 unless given.
   * @throws as `acquire`, except for the time-out
   */
  async tryAcquire(options?: AcquireOptions): Promise<MultiLease | null> {
    return trying((once) => this.acquire(once), this.#scope.placed(options, this, 'tryAcquire'));
  }

  /**
   * Runs `work` under all keys. Re-enters those that the calling context already holds, and acquires the rest.
   * @throws as `acquire`; LockLostError after `work` has ended, when a member was lost meanwhile; what `work` throws
   */
  async using<T>(work: (lease: MultiLease) => T | Promise<T>, options?: UsingOptions): Promise<T> {
    checkWork(work);
    const asked = this.#scope.placed(options, this, 'using');
    return this.#inRounds(asked, (attempt) => this.#usingFrom(0, [], work, attempt));
  }

  /** Begins a new round each time that a round was broken, until the deadline. */
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
        // Even if round after round is broken, timers and replies of the servers must be processed.
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
      // An error of a release must not hide why the set is released.
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

  // Each member is released by the call that acquired it: one may belong to an outer call.
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

/** Returns each key once, sorted by the backend's identity of it. */
export function inFixedOrder<T extends Pick<Member, 'identity'>>(members: readonly T[]): readonly T[] {
  const distinct = new Map(members.map((member) => [member.identity, member]));
  return [...distinct.values()].sort((a, b) => (a.identity < b.identity ? -1 : 1));
}

/** Returns a member's time-out with the `waitMs` of the whole set. The caller's own reason is returned unchanged. */
function timeoutOf(error: unknown, key: string, waitMs: number, options: AcquireOptions): unknown {
  return isTimeout(error, options) ? new LockTimeoutError(key, waitMs, undefined, error.holders) : error;
}

function countdown(waitMs: number): () => number {
  checkMs('waitMs', waitMs);
  const end = now() + waitMs;
  return () => Math.max(0, end - now());
}

const LOST_FURTHER_OUT = 'the call further out that holds it has lost it';

/**
 * One attempt to acquire every member of a set. The round is broken when a member is lost or revoked before the set has
 * all of them. That member is released at once, and the wait for the next one ends.
 *
 * A member that an outer call holds is not released by the set. Its revocation changes nothing here. Its loss ends the
 * acquisition. If it was revoked before, its loss is noticed when the set has all its members.
 */
class SetRound {
  /** The signal for the acquisition of each member. Aborts with the caller's reason, or when the round is broken. */
  readonly signal: AbortSignal;
  readonly #callerSignal: AbortSignal | undefined;
  readonly #outer: readonly Lease[];
  readonly #over = new OwnAbortController();
  readonly #broken = Symbol('a member was lost or revoked before the set had all of them');
  readonly #disposals: Dispose[] = [];

  /** @param outer the leases that outer calls hold */
  constructor(callerSignal: AbortSignal | undefined, outer: Iterable<Lease>) {
    this.#callerSignal = callerSignal;
    this.#outer = [...outer];
    const { signal, dispose } = anyAbort([callerSignal, this.#over.signal]);
    this.signal = signal;
    this.#disposals.push(dispose);
  }

  /** Watches a member until the round ends. */
  granted(lease: Lease): void {
    const ended = this.#isOuter(lease)
      ? (reason: unknown) => void (lease.isHeld() || this.#over.abort(reason))
      : () => this.#breakBy(lease);
    this.#disposals.push(onAbort(lease.signal, ended));
  }

  /** Ends the round after all members were granted. @throws unless every one of them is still held */
  complete(leases: readonly Lease[]): void {
    // A lease may notice only in `isHeld()` that it has expired.
    const lost = leases.find((lease) => !lease.isHeld());
    if (lost)
      this.#over.abort(
        lost.state === 'lost' && this.#isOuter(lost) ? new LockLostError(lost.key, LOST_FURTHER_OUT) : this.#broken,
      );
    this.end();
    this.#over.signal.throwIfAborted();
  }

  /**
   * Returns the error to report for a member that was not granted. A lease that was lost before its holder could begin
   * breaks the round.
   */
  refused(error: unknown): unknown {
    const isOfLease = error instanceof LockLostError || error instanceof LockRevokedError;
    // The caller may have passed the signal of another lease.
    const isCallers = this.#callerSignal?.aborted === true && this.#callerSignal.reason === error;
    return isOfLease && !isCallers && !this.#isOfOuter(error) ? this.#broken : error;
  }

  isBrokenBy(error: unknown): boolean {
    return error === this.#broken;
  }

  /** Unsubscribes from all signals. */
  end(): void {
    this.#disposals.splice(0).forEach((dispose) => dispose());
  }

  #isOfOuter(error: LockError): boolean {
    return this.#outer.some(
      (lease) => lease.signal.reason === error || (lease.key === error.key && lease.state === 'lost'),
    );
  }

  #breakBy(lease: Lease): void {
    this.#over.abort(this.#broken);
    // It is released again with the others. An error is reported there.
    lease.release().catch(() => {});
  }

  #isOuter({ key, fencingToken }: Lease): boolean {
    return this.#outer.some((outer) => outer.key === key && outer.fencingToken === fencingToken);
  }
}
