import type { Dispose } from '../async/abort.js';
import { now } from '../async/clock.js';
import { LinkedList } from '../async/collections.js';
import { nextTurn } from '../async/loop-turn.js';
import { after } from '../async/timer.js';
import type { LockError } from '../contract/errors.js';
import { handedOver, MOST_HAND_OVERS } from '../contract/fencing-token.js';
import { GrantedLease } from '../contract/granted-lease.js';
import type { Grant, LeaseFollower } from '../contract/granted-lease.js';
import type { LocalTarget } from '../contract/lock-request.js';
import { HandOverLimit } from './hand-over-limit.js';

// Others are told that the key is only kept when it has not been used for so long: telling them is a request.
const NOTED_AFTER_MS = 50;

/** What a tenure tells the line that it serves. */
export interface TenureListener {
  /** A caller has left. Resolves when nobody else is kept waiting by that. */
  left(tenure: SharedLease, keepMs: number): Promise<void>;
  /** Nobody may come in any more; callers that are inside stay. */
  closed(tenure: SharedLease): void;
  /** It is known whether the next caller may come in: it is not in doubt any more. */
  known(tenure: SharedLease): void;
}

/**
 * What becomes of the next caller of a tenure: it comes in; it waits until it is known whether another process does; it
 * waits for the caller inside; or it needs another lease, since nobody comes in any more.
 */
type LocalAdmission = 'open' | 'in doubt' | 'full' | 'over';

/** A caller that holds the key, and what it called itself. */
export interface Holder {
  readonly lease: GrantedLease;
  readonly label: string | undefined;
}

/** One lease of the backend, and the callers of this process that hold it one after another, or together as readers. */
export class SharedLease implements LeaseFollower {
  readonly #lease: GrantedLease;
  readonly #mayKeep: boolean;
  readonly #listener: TenureListener;
  readonly #bounds: HandOverLimit;
  readonly #holders = new LinkedList<Holder>();
  #handOvers = 0;
  #isClosed = false;
  #isNotedKept = false;
  #keepMs = 0;
  #idleSince = 0;
  #cancelIdle: Dispose | undefined;

  /** @param mayKeep whether others can tell the contender from those that are always in use */
  constructor(lease: GrantedLease, mayKeep: boolean, listener: TenureListener) {
    this.#lease = lease;
    this.#mayKeep = mayKeep;
    this.#listener = listener;
    this.#bounds = new HandOverLimit(lease.demand, () => this.#listener.known(this));
    this.#isClosed = lease.state !== 'held';
    lease.addFollower(this);
  }

  /** The callers that hold the key now. */
  get holders(): readonly Holder[] {
    return this.#holders.members;
  }

  /** Those that came first, up to `most`. */
  firstHolders(most: number): readonly Holder[] {
    return this.#holders.head(most);
  }

  get isIdle(): boolean {
    return this.#holders.size === 0;
  }

  /** Whether callers hold it together, and none waits for another. */
  get isShared(): boolean {
    return this.#lease.mode === 'read';
  }

  /** What becomes of the next caller. */
  get admission(): LocalAdmission {
    if (this.#isClosed || this.#handOvers >= MOST_HAND_OVERS || !this.#lease.isHeld()) return 'over';
    const bounds = this.#bounds.state;
    if (bounds === 'reached') return 'over';
    // The doubt lasts one round trip, so readers that join meanwhile delay a waiting writer by no more than that.
    if (this.isShared) return 'open';
    if (!this.isIdle) return 'full';
    return bounds === 'in doubt' ? 'in doubt' : 'open';
  }

  /** Resolves when it is known whether another process waits, or callers may not come in any more. */
  untilKnown(): Promise<void> {
    return this.#bounds.untilKnown();
  }

  /** Whether it may stay with this process while nobody uses it. */
  get mayBeKept(): boolean {
    if (this.#isClosed || !this.#mayKeep || this.#handOvers >= MOST_HAND_OVERS) return false;
    return !this.#bounds.isWanted && this.#lease.state === 'held';
  }

  /** The lease of the next caller, with a token of its own. */
  grant({ key, keepMs }: LocalTarget, label: string | undefined): GrantedLease {
    const token = handedOver(this.#lease.fencingToken, this.#handOvers);
    const giveBack = () => {
      place.leave();
      return this.#listener.left(this, keepMs);
    };
    const lease = new GrantedLease(new SharedGrant(this.#lease, key, token, giveBack, () => this.#downgrade()));
    this.#noteKept(false);
    this.#handOvers++;
    this.#bounds.handedOver();
    const place = this.#holders.join({ lease, label });
    this.#lease.catchUp(lease);
    return lease;
  }

  /** Somebody of this process waits for those inside. */
  expectDemand(): void {
    this.#bounds.expect();
  }

  /** Keeps it for so long after the last use; somebody else who asks for it ends that at once. */
  keep(keepMs: number): void {
    this.#keepMs = keepMs;
    this.#idleSince = now();
    this.#bounds.watch(() => this.#wanted());
    this.#cancelIdle ??= after(Math.min(keepMs, NOTED_AFTER_MS), () => this.#idled());
  }

  /** Lets nobody in any more, and gives the backend's lease back when the last has left. */
  close(): void {
    this.#isClosed = true;
    this.#bounds.dispose();
    this.#stopTimer();
  }

  /** Gives the backend's lease back. */
  end(): Promise<void> {
    this.close();
    this.#lease.removeFollower(this);
    return this.#lease.release();
  }

  // The session is not reachable: what is not given back now may have to be waited for.
  suspend(): void {
    this.#close();
    this.#holders.members.forEach(({ lease }) => lease.suspend());
  }

  resume(): void {
    this.#holders.members.forEach(({ lease }) => lease.resume());
  }

  revoke(): void {
    this.#close();
    this.#holders.members.forEach(({ lease }) => lease.revoke());
  }

  lose(reason: LockError): void {
    this.#close();
    this.#holders.members.forEach(({ lease }) => lease.lose(reason));
  }

  /** The caller inside goes on as a reader, and no other writer may follow it; those who wait line up again. */
  #downgrade(): Promise<void> {
    this.#close();
    return this.#lease.downgrade();
  }

  #close(): void {
    if (this.#isClosed) return;
    this.close();
    this.#listener.closed(this);
  }

  #wanted(): void {
    if (this.isIdle) this.#close();
  }

  #idled(): void {
    this.#cancelIdle = undefined;
    if (!this.isIdle) return;
    const idleMs = now() - this.#idleSince;
    if (idleMs >= this.#keepMs) return this.#close();
    if (idleMs >= NOTED_AFTER_MS) this.#noteKept(true);
    const leftMs = (this.#isNotedKept ? this.#keepMs : Math.min(this.#keepMs, NOTED_AFTER_MS)) - idleMs;
    this.#cancelIdle = after(Math.max(1, leftMs), () => this.#idled());
  }

  #stopTimer(): void {
    this.#cancelIdle?.();
    this.#cancelIdle = undefined;
  }

  #noteKept(isKept: boolean): void {
    if (isKept === this.#isNotedKept) return;
    this.#isNotedKept = isKept;
    if (!isKept) this.#stopTimer();
    this.#lease.noteKept(isKept);
  }
}

/**
 * What one caller of a tenure is granted. A class: an object literal with a getter costs more than everything else that
 * a hand-over in memory does.
 */
class SharedGrant implements Grant {
  readonly #of: GrantedLease;

  /** @param of the lease of the tenure */
  constructor(
    of: GrantedLease,
    readonly key: string,
    readonly fencingToken: bigint,
    readonly giveBack: () => Promise<void>,
    readonly downgrade: () => Promise<void>,
  ) {
    this.#of = of;
  }

  get mode(): GrantedLease['mode'] {
    return this.#of.mode;
  }

  isCurrent(): boolean {
    return this.#of.isHeld();
  }
}

/** The pause of a tenure whose next caller has to wait: for the next turn of the event loop, or to know who else waits. */
export class Yield {
  readonly #onOver: (tenure: SharedLease) => void;
  #tenure: SharedLease | undefined;
  #isTimed = false;

  constructor(onOver: (tenure: SharedLease) => void) {
    this.#onOver = onOver;
  }

  isOf(tenure: SharedLease): boolean {
    return this.#tenure === tenure;
  }

  /** Of several in one turn, only the last one still matters then. */
  begin(tenure: SharedLease): void {
    this.#tenure = tenure;
    if (this.#isTimed) return;
    this.#isTimed = true;
    void nextTurn().then(() => this.#over());
  }

  /** Until `end` is called. */
  hold(tenure: SharedLease): void {
    this.#tenure = tenure;
  }

  end(tenure: SharedLease): void {
    if (this.isOf(tenure)) this.#end();
  }

  #over(): void {
    this.#isTimed = false;
    this.#end();
  }

  #end(): void {
    const tenure = this.#tenure;
    this.#tenure = undefined;
    if (tenure) this.#onOver(tenure);
  }
}
