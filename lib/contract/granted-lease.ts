import { LockLostError, LockRevokedError } from './errors.js';
import type { LockError } from './errors.js';
import { leaseJson } from './lease.js';
import type { Lease, LeaseJson, LeaseMode, LeaseState } from './lease.js';

/** What a backend granted, and how it is checked and given back. */
export interface Grant {
  readonly key: string;
  /** As it is now, see `downgrade`. */
  readonly mode: LeaseMode;
  readonly fencingToken: bigint;
  /** Whether the grant stands at this instant, by a clock that needs no event to be right. */
  isCurrent(): boolean;
  /** Gives the key back; must end, and must not reject. Called at most once. */
  giveBack(): Promise<void>;
  /** How others are known who wait for this to be given back; without it, somebody always may. */
  readonly demand?: Demand;
  /** Notes for others to see whether the lease is only kept, without being used. */
  noteKept?(isKept: boolean): void;
  /**
   * Of a writer's: becomes a reader's, without a moment in which another writer could have the key. Must end, and must
   * not reject. Without it, a writer's grant stays one.
   */
  downgrade?(): Promise<void>;
}

/** Whether somebody waits for a lease to be given back. */
export interface Demand {
  /**
   * Calls back once, as soon as somebody does or it can not be known any more; until disposed. `onNone` is called at most
   * once before that, when it is known that nobody does so far.
   */
  watch(onDemand: () => void, onNone: () => void): () => void;
}

/** Who is told what becomes of a lease: whatever stands on it. */
export interface LeaseFollower {
  suspend(): void;
  resume(): void;
  revoke(): void;
  lose(reason: LockError): void;
  /** Told right before the lease is given back, so before anybody else can have the key. */
  releasing?(): void;
}

/** One for all leases, not one for each: leases are many. */
export type LossListener = (lease: GrantedLease, reason: LockError) => void;

/** The one state machine behind every backend's leases. The backend calls `suspend`, `resume`, `revoke` and `lose`. */
export class GrantedLease implements Lease, LeaseFollower {
  readonly acquiredAt = new Date();
  /** What its holder called itself, for messages. */
  label: string | undefined = undefined;
  readonly #grant: Grant;
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

  constructor(grant: Grant) {
    this.#grant = grant;
  }

  get key(): string {
    return this.#grant.key;
  }

  get mode(): LeaseMode {
    return this.#grant.mode;
  }

  get fencingToken(): bigint {
    return this.#grant.fencingToken;
  }

  get state(): LeaseState {
    return this.#state;
  }

  get demand(): Demand | undefined {
    return this.#grant.demand;
  }

  noteKept(isKept: boolean): void {
    this.#grant.noteKept?.(isKept);
  }

  // Made when somebody asks for it: most leases end without anybody having done so.
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

  suspend(): void {
    if (this.#state !== 'held') return;
    this.#state = 'suspended';
    this.#followers?.forEach((follower) => follower.suspend());
  }

  resume(): void {
    if (this.#state !== 'suspended') return;
    this.#state = 'held';
    this.#followers?.forEach((follower) => follower.resume());
  }

  /** @param reason what the signal aborts with */
  revoke(reason: LockError = new LockRevokedError(this.key)): void {
    if (this.#isOver()) return;
    this.#state = 'revoking';
    this.#abortWith(reason);
    this.#followers?.forEach((follower) => follower.revoke());
  }

  /** From a writer's to a reader's lease, with the same token; stays a writer's where that can not be. Never rejects. */
  async downgrade(): Promise<void> {
    if (this.mode !== 'write' || this.#isOver()) return;
    await this.#grant.downgrade?.();
  }

  lose(reason: LockError): void {
    if (this.#isOver()) return;
    this.#state = 'lost';
    this.#abortWith(reason);
    this.#followers?.forEach((follower) => follower.lose(reason));
    this.#onLost?.(this, reason);
  }

  /** Tells a follower that came later what has become of this lease before. */
  catchUp(follower: LeaseFollower): void {
    if (this.#state === 'suspended') follower.suspend();
    if (this.#state === 'revoking') follower.revoke();
    if (this.#state === 'lost') follower.lose(this.#abortReason as LockError);
  }

  /** Whatever becomes of this lease from now on becomes of `follower`, too. */
  addFollower(follower: LeaseFollower): void {
    (this.#followers ??= new Set()).add(follower);
  }

  removeFollower(follower: LeaseFollower): void {
    this.#followers?.delete(follower);
  }

  /** Calls back when the lease is lost; at once when it is. There is one such listener. */
  onLost(listener: LossListener): void {
    this.#onLost = listener;
    if (this.#state === 'lost') listener(this, this.#abortReason as LockError);
  }

  /** Calls back when the holder has given the lease back, lost or not. There is one such listener. */
  onReleased(listener: () => void): void {
    this.#onReleased = listener;
  }

  /** Resolves then. */
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

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }

  async #giveBack(): Promise<void> {
    this.#followers?.forEach((follower) => follower.releasing?.());
    try {
      await this.#grant.giveBack();
    } finally {
      this.#isGivenBack = true;
      this.#onReleased?.();
      this.#settleReleased?.();
    }
  }

  #abortWith(reason: unknown): void {
    this.#abortReason ??= reason;
    this.#abort?.abort(reason);
  }

  #isOver(): boolean {
    return this.#state === 'lost' || this.#state === 'released';
  }
}
