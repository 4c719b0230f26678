import type { Dispose } from '../async/abort.js';
import { now } from '../async/clock.js';
import { LinkedList } from '../async/collections.js';
import { after } from '../async/timer.js';
import { channels } from '../contract/channels.js';
import type { EventOrigin, LocalEndEvent } from '../contract/channels.js';
import type { LockError } from '../contract/errors.js';
import { handedOver, MOST_HAND_OVERS, GrantedLease } from '../contract/granted-lease.js';
import type { Grant, LeaseFollower } from '../contract/granted-lease.js';
import type { LocalTarget } from '../contract/lock-request.js';
import { HandOverLimit } from './hand-over-limit.js';

// Idle time after which others are notified that the lease is only kept. Each notification costs a request.
const NOTED_AFTER_MS = 50;

/**
 * The use of one shared lease by the callers of this process, for `local.end`. It exists only if that channel has a
 * subscriber when the lease begins.
 */
class LocalUse {
  readonly #since: number;
  #blockedMs = 0;
  /** The reason for the end, if there is one besides that no caller needs the lease. */
  #why: LocalEndEvent['why'] = 'idle';

  /** @param since time at which the process got the key */
  constructor(since: number) {
    this.#since = since;
  }

  /** Adds the time of one holder, for each caller that has waited for it. */
  blocked(heldMs: number, waitingCallers: number): void {
    this.#blockedMs += heldMs * waitingCallers;
  }

  /** Sets the reason why the lease ends. The first reason counts, unless the lease is lost after it. */
  endsAs(why: LocalEndEvent['why']): void {
    if (this.#why === 'idle' || why === 'lost') this.#why = why;
  }

  /** Publishes the end. */
  ended(origin: EventOrigin, lease: Pick<LocalEndEvent, 'key' | 'mode'>, grants: number): void {
    if (!channels.localEnd.hasSubscribers) return;
    channels.localEnd.publish({
      connection: origin.connection,
      origin,
      key: lease.key,
      mode: lease.mode,
      handOvers: Math.max(0, grants - 1),
      heldMs: now() - this.#since,
      blockedMs: this.#blockedMs,
      why: this.#why,
    });
  }
}

/** Callbacks of a shared lease to its local queue. */
export interface SharedLeaseListener {
  /** The origin of the events of the local queue. */
  readonly origin: EventOrigin;
  /** The number of callers that wait in the local queue. */
  readonly waitingCallers: number;
  /** Called when a caller has released its lease. Resolves when this blocks no other contender any more. */
  left(shared: SharedLease): Promise<void>;
  /** Called when no more callers are admitted. Present holders keep the lease. */
  closed(shared: SharedLease): void;
  /** Called when it is known whether the next caller may be admitted: it is not in doubt any more. */
  known(shared: SharedLease): void;
}

/**
 * The answers to the next caller of a shared lease:
 * - `open`: it is admitted.
 * - `in doubt`: it waits until it is known whether another process waits.
 * - `full`: it waits for the present holder.
 * - `over`: it needs another lease, because no more callers are admitted.
 */
export type LocalAdmission = 'open' | 'in doubt' | 'full' | 'over';

/** One lease of the backend. Callers of this process hold it one after another, or together as readers. */
export class SharedLease implements Pick<Grant, 'mode' | 'isCurrent' | 'downgrade'>, LeaseFollower {
  readonly #lease: GrantedLease;
  readonly #mayKeep: boolean;
  readonly #listener: SharedLeaseListener;
  readonly #since = now();
  #limit: HandOverLimit | undefined;
  /** The leases of the callers that hold the key now. */
  readonly #holders = new LinkedList<GrantedLease>();
  /** The use as observers see it; `undefined` when there are none. */
  readonly use: LocalUse | undefined = channels.localEnd.hasSubscribers ? new LocalUse(this.#since) : undefined;
  #handOvers = 0;
  #isEnded = false;
  #isClosed = false;
  #isNotedKept = false;
  /** `keepMs` of the last use. */
  #keepMs = 0;
  #idleSince = 0;
  #cancelIdle: Dispose | undefined;

  /** @param mayKeep whether others can distinguish the contender from those that are always in use */
  constructor(lease: GrantedLease, mayKeep: boolean, listener: SharedLeaseListener) {
    this.#lease = lease;
    this.#mayKeep = mayKeep;
    this.#listener = listener;
    this.#isClosed = lease.state !== 'held';
    lease.addFollower(this);
  }

  /** Returns the leases of the callers that hold the key now, the earliest first, up to `most`. */
  holders(most = Infinity): readonly GrantedLease[] {
    return this.#holders.head(most);
  }

  get isIdle(): boolean {
    return this.#holders.size === 0;
  }

  get mode(): GrantedLease['mode'] {
    return this.#lease.mode;
  }

  isCurrent(): boolean {
    return this.#lease.isHeld();
  }

  /** The answer to the next caller. */
  get admission(): LocalAdmission {
    if (this.#isClosed || this.#handOvers >= MOST_HAND_OVERS || !this.#lease.isHeld()) return 'over';
    const bounds = this.#handOverLimit.stateAfter(this.#handOvers);
    if (bounds === 'reached') return 'over';
    // The doubt lasts one round trip. So readers that join meanwhile delay a waiting writer by no more than that.
    if (this.mode === 'read') return 'open';
    if (!this.isIdle) return 'full';
    return bounds === 'in doubt' ? 'in doubt' : 'open';
  }

  /** Resolves when it is known whether another process waits, or when no more callers are admitted. */
  untilKnown(): Promise<void> {
    return this.#handOverLimit.untilKnown();
  }

  /** Whether this process may keep the lease warm after its last use. */
  get mayBeKept(): boolean {
    if (this.#keepMs === 0 || this.#isClosed || !this.#mayKeep || this.#handOvers >= MOST_HAND_OVERS) return false;
    return !this.#handOverLimit.isWanted && this.#lease.state === 'held';
  }

  /** Returns a lease for the next caller, with a token of its own. */
  grant({ key, keepMs }: LocalTarget, label: string | undefined): GrantedLease {
    const fencingToken = handedOver(this.#lease.fencingToken, this.#handOvers);
    const since = this.use ? now() : 0;
    const giveBack = () => {
      place.leave();
      this.#keepMs = keepMs;
      this.use?.blocked(now() - since, this.#listener.waitingCallers);
      return this.#listener.left(this);
    };
    const lease = new GrantedLease(this, { key, fencingToken, giveBack });
    lease.label = label;
    if (this.#isNotedKept) this.#inUseAgain();
    this.#handOvers++;
    const place = this.#holders.join(lease);
    if (this.#isClosed) this.#lease.catchUp(lease);
    return lease;
  }

  /** Notes that another caller of this process waits for the present holders. */
  expectDemand(): void {
    if (!this.#isClosed) this.#handOverLimit.expect();
  }

  /** Keeps the lease warm for `keepMs` of its last use. A request by another process ends that at once. */
  keep(): void {
    this.#idleSince = now();
    this.#handOverLimit.watch(() => this.#wanted());
    this.#cancelIdle ??= after(Math.min(this.#keepMs, NOTED_AFTER_MS), () => this.#idled());
  }

  /** Admits no more callers. The backend's lease is released with the last holder. */
  close(): void {
    this.#isClosed = true;
    this.#limit?.dispose();
    this.#cancelIdle?.();
  }

  /** Releases the backend's lease. */
  end(): Promise<void> {
    this.close();
    this.#lease.removeFollower(this);
    if (!this.#isEnded) this.use?.ended(this.#listener.origin, this.#lease, this.#handOvers);
    this.#isEnded = true;
    return this.#lease.release();
  }

  // The session is out of reach. A lease that is not closed now may delay the waiting callers later.
  suspend(): void {
    this.use?.endsAs('closed');
    this.#close();
    this.#holders.members.forEach((lease) => lease.suspend());
  }

  resume(): void {
    this.#holders.members.forEach((lease) => lease.resume());
  }

  revoke(): void {
    this.use?.endsAs('closed');
    this.#close();
    this.#holders.members.forEach((lease) => lease.revoke());
  }

  lose(reason: LockError): void {
    this.use?.endsAs('lost');
    this.#close();
    this.#holders.members.forEach((lease) => lease.lose(reason));
  }

  /** The present holder continues as a reader, and no writer may follow it. Waiting callers queue again. */
  downgrade(): Promise<void> {
    this.use?.endsAs('closed');
    this.#close();
    return this.#lease.downgrade();
  }

  // Created on first use: most leases are handed over to nobody.
  get #handOverLimit(): HandOverLimit {
    return (this.#limit ??= new HandOverLimit(this.#lease.demand, this.#since, () => this.#listener.known(this)));
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
    // While a caller waits for the end of a pause, the lease is not warm.
    if (!this.isIdle || this.#listener.waitingCallers > 0) return;
    const idleMs = now() - this.#idleSince;
    if (idleMs >= this.#keepMs) return this.#close();
    if (idleMs >= NOTED_AFTER_MS && !this.#isNotedKept) this.#noteKept(true);
    const leftMs = (this.#isNotedKept ? this.#keepMs : Math.min(this.#keepMs, NOTED_AFTER_MS)) - idleMs;
    this.#cancelIdle = after(Math.max(1, leftMs), () => this.#idled());
  }

  #inUseAgain(): void {
    this.#cancelIdle?.();
    this.#cancelIdle = undefined;
    this.#noteKept(false);
  }

  #noteKept(isKept: boolean): void {
    this.#isNotedKept = isKept;
    this.#lease.noteKept(isKept);
  }
}
