import type { Dispose } from '../../async/abort.js';
import type { Place as ListPlace } from '../../async/collections.js';
import { now } from '../../async/clock.js';
import { settledWithin } from '../../async/timer.js';
import type { Alarm } from '../../async/timer.js';
import { LockLostError } from '../../contract/errors.js';
import { fencingTokenOf, GrantedLease } from '../../contract/granted-lease.js';
import type { Demand, Grant } from '../../contract/granted-lease.js';
import type { LeaseMode } from '../../contract/lease.js';
import type { EtcdSession } from '../session/etcd-session.js';
import type { Entry } from './entry.js';
import { rewrite } from './rewrite.js';
import type { Place, ViewFollower } from './queue-view.js';
import type { Wanted } from './wanted.js';

/** A lease that is released sooner than this needs no watch. */
const SHORT_HOLD_MS = 25;

/** A held entry: the grant behind a lease. */
export class EtcdHold implements Grant, ViewFollower, Alarm {
  /** The key as the application wrote it. */
  readonly key: string;
  readonly entryKey: string;
  readonly created: number;
  readonly isWaiting = false;
  due = 0;
  readonly fencingToken: bigint;
  readonly lease: GrantedLease;
  readonly demand: Demand | undefined;
  readonly #session: EtcdSession;
  readonly #wanted: Wanted;
  readonly #demanded = new Demanded(() => this.#follow());
  readonly #carried: ListPlace<GrantedLease>;
  #entry: Entry;
  #leaveView: Dispose | undefined;
  readonly #alarm: ListPlace<Alarm>;
  /** Settles when the value that was published last is there. */
  #proclaiming: Promise<unknown> = Promise.resolve();
  #isOver = false;

  /** @param isWanted whether another entry waits; `undefined`: that is not known */
  constructor(session: EtcdSession, entry: Entry, isWanted: boolean | undefined, wanted: Wanted) {
    this.#session = session;
    this.#entry = entry;
    this.#wanted = wanted;
    this.key = wanted.name;
    this.entryKey = entry.key;
    this.created = entry.created;
    this.fencingToken = fencingTokenOf(BigInt(entry.created));
    if (isWanted) this.#demanded.set();
    this.demand = entry.mode === 'permit' ? undefined : this.#demanded;
    this.lease = new GrantedLease(this as Grant);
    this.#carried = session.leases.add(this.lease);
    this.#alarm = session.alarms.set(SHORT_HOLD_MS, this);
  }

  get mode(): LeaseMode {
    return this.#entry.mode;
  }

  isCurrent(): boolean {
    return now() < this.#session.deadline;
  }

  async giveBack(): Promise<void> {
    this.#leave();
    const left = this.#session.removeEntry(this.entryKey);
    // Without a connection the key is removed later, or ends with its session.
    if (this.#session.isLinked) await settledWithin(left, this.#wanted.releaseTimeoutMs, this.#session.alarms);
  }

  /** A request that is not answered in time continues in the background. */
  downgrade(): Promise<void> {
    return settledWithin(this.#becomeReader(), this.#wanted.releaseTimeoutMs, this.#session.alarms);
  }

  async #becomeReader(): Promise<void> {
    const entry = await rewrite(this.#session, this.#entry, { mode: 'read' }).catch((error: Error) => {
      // The end of a lease, also that of its session, is told by itself.
      if (this.lease.isHeld()) this.#wanted.report?.staysWriter(this.#wanted.name, error.message);
      return undefined;
    });
    if (entry) this.#entry = entry;
  }

  /** Publishes the leader's value. Resolves to whether the entry still stands. @throws SessionEndedError, RefusedError */
  proclaim(proclaimed: string): Promise<boolean> {
    // One after the other: a rewrite whose condition is not met is made again, and would replace a later value.
    const proclaiming = this.#proclaiming.then(() => this.#proclaim(proclaimed));
    this.#proclaiming = proclaiming.catch(() => {});
    return proclaiming;
  }

  async #proclaim(proclaimed: string): Promise<boolean> {
    const entry = await rewrite(this.#session, this.#entry, { proclaimed });
    if (entry) this.#entry = entry;
    return entry !== undefined;
  }

  placed(place: Place | undefined): void {
    if (this.#isOver) return;
    if (!place) {
      this.#leave();
      return this.lease.lose(new LockLostError(this.key, 'it was taken away by force, or its record is gone'));
    }
    if (place.isWanted) this.#demanded.set();
    else if (place.isWanted === false) this.#demanded.none();
    if (place.entry.isRevoked) this.lease.revoke();
  }

  ring(): void {
    this.#follow();
  }

  #follow(): void {
    if (this.#isOver || this.#leaveView) return;
    this.#alarm.leave();
    const { views, queue } = this.#wanted;
    // A copy that is there already tells the place before it returns.
    this.#leaveView = () => {};
    const leave = views.follow(this.#session, queue, this);
    if (this.#isOver) leave();
    else this.#leaveView = leave;
  }

  #leave(): void {
    this.#isOver = true;
    this.#alarm.leave();
    this.#carried.leave();
    this.#leaveView?.();
  }
}

/** Tells once that another entry waits. */
class Demanded implements Demand {
  readonly #onAsked: () => void;
  #state: 'unknown' | 'wanted' | 'unwanted' = 'unknown';
  #onDemand: (() => void) | undefined;
  #onNone: (() => void) | undefined;

  /** @param onAsked called when it has to be found out */
  constructor(onAsked: () => void) {
    this.#onAsked = onAsked;
  }

  set(): void {
    const onDemand = this.#onDemand;
    this.#state = 'wanted';
    this.#stop();
    onDemand?.();
  }

  none(): void {
    const onNone = this.#onNone;
    if (this.#state === 'unknown') this.#state = 'unwanted';
    this.#onNone = undefined;
    onNone?.();
  }

  watch(onDemand: () => void, onNone: () => void): () => void {
    this.#onDemand = onDemand;
    this.#onNone = onNone;
    // Later, as with a backend that has to ask: the caller is not yet ready for an answer.
    queueMicrotask(() => {
      if (this.#onDemand !== onDemand) return;
      this.#onAsked();
      if (this.#state === 'wanted') this.set();
      else if (this.#state === 'unwanted') this.none();
    });
    return () => {
      if (this.#onDemand === onDemand) this.#stop();
    };
  }

  #stop(): void {
    this.#onDemand = undefined;
    this.#onNone = undefined;
  }
}
