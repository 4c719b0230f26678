import { LockLostError, LockRevokedError } from './errors.js';
import type { LockError } from './errors.js';
import { leaseJson } from './lease.js';
import type { Lease, LeaseJson, LeaseMode, LeaseState } from './lease.js';

/** A grant of a backend, with the means to check it and to release it. */
export interface Grant {
  /** The key as the application wrote it. */
  readonly key: string;
  /** The present mode, see `downgrade`. */
  readonly mode: LeaseMode;
  /** The fencing token. It is larger than that of every earlier grant of the key. */
  readonly fencingToken: bigint;
  /** Whether the grant is valid at this instant, by a clock that needs no event to be right. */
  isCurrent(): boolean;
  /** Releases the key. Must end, and must not reject. Called at most once. */
  giveBack(): Promise<void>;
  /** Tells whether others wait for this grant. Without it, others may always wait. */
  readonly demand?: Demand;
  /** Records, where others see it, whether the lease is warm: kept without being used. */
  noteKept?(isKept: boolean): void;
  /**
   * Turns a writer's grant into a reader's. At no moment in between can another writer have the key. Must end, and must
   * not reject. Without it, a writer's grant remains a writer's.
   */
  downgrade?(): Promise<void>;
}

/** The members of a grant that each holder has for itself when several share the grant. */
type OwnPart = Pick<Grant, 'key' | 'fencingToken' | 'giveBack'>;

/** Tells whether others wait for a lease to be released. */
export interface Demand {
  /**
   * Calls `onDemand` once, when another contender waits or when this cannot be known any more; until disposed. Before
   * that, `onNone` is called at most once, when it is known that no other contender waits so far.
   */
  watch(onDemand: () => void, onNone: () => void): () => void;
}

/** An object that depends on a lease and is notified of its changes. */
export interface LeaseFollower {
  /** Called when the lease is suspended. */
  suspend(): void;
  /** Called when a suspended lease is held again. */
  resume(): void;
  /** Called when the holder is asked to release the key. */
  revoke(): void;
  /** Called when the lease is lost. */
  lose(reason: LockError): void;
  /** Called right before the signal aborts, so before the holder can react to it. `revoke` or `lose` follows. */
  ending?(state: 'revoking' | 'lost', reason: LockError): void;
  /** Called when the lease has been held for one of its limits, in milliseconds. */
  overdue?(limit: 'warnHeldMs' | 'maxHeldMs', limitMs: number): void;
  /** Called right before the lease is released, so before another holder can have the key. */
  releasing?(): void;
}

/** A listener for lost leases. It takes the lease as a parameter, so that one listener serves all leases. */
export type LossListener = (lease: GrantedLease, reason: LockError) => void;

/** The state machine behind every backend's leases. The backend calls `suspend`, `resume`, `revoke` and `lose`. */
export class GrantedLease implements Lease, LeaseFollower {
  readonly key: string;
  readonly fencingToken: bigint;
  readonly acquiredAt = new Date();
  /** The holder's label, for messages. */
  label: string | undefined = undefined;
  /**
   * The follower that publishes events. It hears of everything first. Not in `#followers`: creating the Set would cost
   * more than publishing.
   */
  observer: LeaseFollower | undefined = undefined;
  readonly #grant: Omit<Grant, keyof OwnPart>;
  readonly #own: OwnPart;
  #abort: AbortController | undefined;
  #abortReason: unknown;
  #followers: Set<LeaseFollower> | undefined;
  #onLost: LossListener | undefined;
  #onReleased: (() => void) | undefined;
  #released: Promise<void> | undefined;
  #settleReleased: (() => void) | undefined;
  #state: LeaseState = 'held';
  #isGivenBack = false;
  #release: Promise<void> | undefined;

  constructor(grant: Grant);
  /** @param own key, token and way of giving back of a holder that shares `grant` with others */
  constructor(grant: Omit<Grant, keyof OwnPart>, own: OwnPart);
  constructor(grant: Omit<Grant, keyof OwnPart>, own: OwnPart = grant as Grant) {
    this.#grant = grant;
    this.#own = own;
    this.key = own.key;
    this.fencingToken = own.fencingToken;
  }

  get mode(): LeaseMode {
    return this.#grant.mode;
  }

  get state(): LeaseState {
    return this.#state;
  }

  /** Tells whether others wait for the lease. `undefined`: others may always wait. */
  get demand(): Demand | undefined {
    return this.#grant.demand;
  }

  /** Records, where others see it, whether the lease is warm: kept without being used. */
  noteKept(isKept: boolean): void {
    this.#grant.noteKept?.(isKept);
  }

  // Created on first use: most leases end without a reader of their signal.
  get signal(): AbortSignal {
    if (!this.#abort) {
      this.#abort = new AbortController();
      if (this.#abortReason !== undefined) this.#abort.abort(this.#abortReason);
    }
    return this.#abort.signal;
  }

  isHeld(): boolean {
    if (this.#isOver()) return false;
    if (this.#grant.isCurrent()) return true;
    this.lose(new LockLostError(this.key, 'its time ran out on the holder’s own clock'));
    return false;
  }

  /** Suspends the lease: the connection is interrupted. Has no effect unless the lease is held. */
  suspend(): void {
    if (this.#state !== 'held') return;
    this.#state = 'suspended';
    this.#tell((follower) => follower.suspend());
  }

  /** Ends a suspension. Has no effect unless the lease is suspended. */
  resume(): void {
    if (this.#state !== 'suspended') return;
    this.#state = 'held';
    this.#tell((follower) => follower.resume());
  }

  /**
   * Asks the holder to release the key. The signal aborts. Has no effect on a lease that is released or lost, nor when
   * repeated: the first reason stays.
   * @param reason reason that the signal aborts with
   */
  revoke(reason: LockError = new LockRevokedError(this.key)): void {
    if (this.#isOver() || this.#state === 'revoking') return;
    this.#state = 'revoking';
    this.#tell((follower) => follower.ending?.('revoking', reason));
    this.#abortWith(reason);
    this.#tell((follower) => follower.revoke());
  }

  /** Notifies the followers that the lease has been held for one of its limits. Changes nothing else. */
  overdue(limit: 'warnHeldMs' | 'maxHeldMs', limitMs: number): void {
    this.#tell((follower) => follower.overdue?.(limit, limitMs));
  }

  /**
   * Turns a writer's lease into a reader's, with the same token. If that is not possible, it remains a writer's. Never
   * rejects.
   */
  async downgrade(): Promise<void> {
    if (this.mode !== 'write' || this.#isOver()) return;
    await this.#grant.downgrade?.();
  }

  /** Ends the lease as lost. The signal aborts with `reason`. Has no effect on a lease that is released or lost. */
  lose(reason: LockError): void {
    if (this.#isOver()) return;
    this.#state = 'lost';
    this.#tell((follower) => follower.ending?.('lost', reason));
    this.#abortWith(reason);
    this.#tell((follower) => follower.lose(reason));
    this.#onLost?.(this, reason);
  }

  /** Applies the present state of this lease to a follower that was added later. */
  catchUp(follower: LeaseFollower): void {
    if (this.#state === 'suspended') follower.suspend();
    if (this.#state === 'revoking') follower.revoke();
    if (this.#state === 'lost') follower.lose(this.#abortReason as LockError);
  }

  /** Notifies `follower` of all further changes of this lease. */
  addFollower(follower: LeaseFollower): void {
    (this.#followers ??= new Set()).add(follower);
  }

  /** Stops notifying `follower`. */
  removeFollower(follower: LeaseFollower): void {
    this.#followers?.delete(follower);
  }

  /** Calls back when the lease is lost, or at once if it is lost already. There is one such listener. */
  onLost(listener: LossListener): void {
    this.#onLost = listener;
    if (this.#state === 'lost') listener(this, this.#abortReason as LockError);
  }

  /** Calls back when the holder has released the lease, lost or not. There is one such listener. */
  onReleased(listener: () => void): void {
    this.#onReleased = listener;
  }

  /** Resolves when the holder has released the lease. */
  get released(): Promise<void> {
    return (this.#released ??= new Promise((resolve) => {
      if (this.#isGivenBack) resolve();
      else this.#settleReleased = resolve;
    }));
  }

  release(): Promise<void> {
    if (this.#state !== 'lost') this.#state = 'released';
    return (this.#release ??= this.#giveBack());
  }

  toJSON(): LeaseJson {
    return leaseJson(this);
  }

  /** Releases the lease: `await using lease = …` does so at the end of the block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }

  async #giveBack(): Promise<void> {
    this.observer?.releasing?.();
    this.#followers?.forEach((follower) => follower.releasing?.());
    try {
      await this.#own.giveBack();
    } finally {
      this.#isGivenBack = true;
      this.#onReleased?.();
      this.#settleReleased?.();
    }
  }

  #tell(change: (follower: LeaseFollower) => void): void {
    if (this.observer) change(this.observer);
    this.#followers?.forEach(change);
  }

  #abortWith(reason: unknown): void {
    this.#abortReason ??= reason;
    this.#abort?.abort(reason);
  }

  #isOver(): boolean {
    return this.#state === 'lost' || this.#state === 'released';
  }
}

/**
 * A fencing token has two parts. The high bits are the number of the backend's grant. The low bits count the hand-overs
 * of this grant from one caller of a process to the next. So the token grows with every holder, including holders that
 * the backend does not see. With ZooKeeper's zxids it fits into 63 bits until the ensemble has elected 32,767 leaders.
 */
const HAND_OVER_BITS = 16n;

/** The maximum number of hand-overs. After them, the grant is released and another one is requested. */
export const MOST_HAND_OVERS = 2 ** Number(HAND_OVER_BITS) - 1;

/** @param grant number that grows with every grant of a key */
export function fencingTokenOf(grant: bigint): bigint {
  return grant << HAND_OVER_BITS;
}

/** @param token token of the grant @param handOver from 0 to `MOST_HAND_OVERS` */
export function handedOver(token: bigint, handOver: number): bigint {
  return handOver === 0 ? token : token + BigInt(handOver);
}

/** Returns the number of the hand-over that a token belongs to. 0: the lease came from the backend. */
export function handOverOf(token: bigint): number {
  return Number(BigInt.asUintN(Number(HAND_OVER_BITS), token));
}
