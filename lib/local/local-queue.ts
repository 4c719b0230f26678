import { orAbort } from '../async/abort.js';
import { LinkedList } from '../async/collections.js';
import { nextTurn } from '../async/timer.js';
import type { LoopBudget } from '../async/timer.js';
import type { EventOrigin, LocalEndEvent } from '../contract/channels.js';
import { LockUnavailableError } from '../contract/errors.js';
import type { GrantedLease } from '../contract/granted-lease.js';
import { requestOf } from '../contract/lock-request.js';
import type { CallerRequest, LocalTarget, LockRequest } from '../contract/lock-request.js';
import { SharedLease } from './shared-lease.js';
import type { LocalAdmission, SharedLeaseListener } from './shared-lease.js';
import { PendingAcquisition, Waiter } from './waiters.js';
import type { GrantingBackend, WaiterListener } from './waiters.js';

/** One caller in a local queue, as shown to observers. */
export interface LocalCaller {
  readonly state: 'held' | 'waiting';
  readonly label: string | undefined;
  readonly since: Date;
}

/** A try that was sent to the backend. */
interface SentTry {
  readonly number: number;
  /** `undefined`: granted. `null`: not granted this time. Otherwise the error. */
  readonly refusal: Promise<unknown>;
}

/**
 * The local queue: the callers of one process that want one key in one mode, behind one contender of the backend. A
 * release hands the key to the next caller in memory. Once another process waits, hand-overs are limited (see
 * `HandOverLimit`). At the limit, the contender releases the key, and a new one is queued for the remaining callers.
 * Readers hold together, and release together.
 *
 * When the session is suspended or lost, the contender is not handed over any more, and waiting callers queue again.
 */
export class LocalQueue implements SharedLeaseListener, WaiterListener {
  readonly #backend: GrantingBackend;
  readonly #turn: LoopBudget;
  readonly #onEmpty: (queue: LocalQueue) => void;
  readonly origin: EventOrigin;
  /** The callers that wait, in the order of their arrival. */
  readonly #waiting = new LinkedList<Waiter>();
  /** The number of callers that have waited here so far. */
  #arrived = 0;
  #shared: SharedLease | undefined;
  /**
   * The lease that pauses, because its next caller must wait: for the next turn of the event loop, or until it is known
   * whether another process waits.
   */
  #paused: SharedLease | undefined;
  /** Shared leases that accept no more callers, but still have holders. */
  #closed: readonly SharedLease[] = [];
  #entry: PendingAcquisition | undefined;
  /** The number of tries in progress. The local queue is not removed while there are any. */
  #tries = 0;
  /** The number of tries that were sent to the backend so far. */
  #sent = 0;
  #sentTry: SentTry | undefined;

  /**
   * @param turn counts the hand-overs of this process
   * @param origin origin of the events of the queue
   * @param onEmpty called when no caller holds, waits, or has a request in progress
   */
  constructor(backend: GrantingBackend, turn: LoopBudget, origin: EventOrigin, onEmpty: (queue: LocalQueue) => void) {
    this.#backend = backend;
    this.#turn = turn;
    this.origin = origin;
    this.#onEmpty = onEmpty;
  }

  get waitingCallers(): number {
    return this.#waiting.size;
  }

  /** Whether the key's lease is warm: kept here without being used. */
  get isKept(): boolean {
    return this.#shared?.isIdle ?? false;
  }

  /** The callers of this process that hold the key or wait for it, in order. */
  get callers(): LocalCaller[] {
    const waiters = this.#waiting.members.map(
      ({ request: { label }, since }) => ({ state: 'waiting', label, since }) as const,
    );
    return [...this.holders(), ...waiters];
  }

  /** The number of leases of the backend that this process has, in use or not. */
  get leases(): number {
    return this.#sharedLeases.length;
  }

  /** Whether this process has a lease of the backend, in use or not. */
  get hasKey(): boolean {
    return this.leases > 0;
  }

  /** The callers of this process that hold the key, the earliest first, up to `most`. */
  holders(most?: number): LocalCaller[] {
    return this.#sharedLeases.flatMap((shared) => shared.holders(most).map(asCaller)).slice(0, most);
  }

  /** Returns a lease at once, if this process has the key and no caller waits for it. */
  takeNow(target: LocalTarget, label?: string): GrantedLease | undefined {
    if (this.#waiting.size > 0 || this.#turn.isLong || this.#shared?.admission !== 'open') return undefined;
    return this.#grant(this.#shared, target, label);
  }

  /**
   * Waits in the queue until the caller gets the key.
   * @throws the backend's error, the reason why the caller gave up
   */
  wait(request: CallerRequest): Promise<GrantedLease> {
    return new Promise((resolve, reject) => {
      const waiter = new Waiter(request, ++this.#arrived, this, resolve, reject);
      waiter.place = this.#waiting.join(waiter);
      if (request.givenUp) return this.gaveUp(waiter, request.givenUp.reason);
      request.onGivenUp = waiter;
      this.#goAhead();
    });
  }

  /**
   * Tries once: first the present lease, then the backend. Returns `null` when a caller of this process excludes this
   * one, or the backend refuses. One try is sent at a time. Its lease is shared with all callers that wait for it. Its
   * refusal is shared only with callers that arrived before it was sent. For later callers, the key may have become
   * free since.
   * @throws the backend's error, the reason why the caller gave up
   */
  async ask(request: CallerRequest): Promise<GrantedLease | null> {
    const sentBefore = this.#sent;
    this.#tries++;
    try {
      for (;;) {
        const lease = this.takeNow(request.target, request.label);
        if (lease) return lease;
        if (this.#isUndecided) {
          await this.#untilDecided(request);
          continue;
        }
        if (this.#isTaken(request)) return null;
        const sent = this.#sentTry;
        if (!sent) return await this.#askBackend(request);
        const refusal = await orAbort(sent.refusal, request.signal);
        if (refusal instanceof LockUnavailableError) throw refusal;
        if (refusal === null && sent.number > sentBefore) return null;
      }
    } finally {
      this.#tries--;
      this.#goAhead();
    }
  }

  /** Releases the key if no caller uses it. */
  async giveUpKept(): Promise<void> {
    if (!this.#shared?.isIdle) return;
    await this.#giveUp(this.#shared, 'closed');
  }

  async left(shared: SharedLease): Promise<void> {
    if (shared === this.#shared) return this.#follow(shared);
    if (!shared.isIdle) return;
    this.#closed = this.#closed.filter((other) => other !== shared);
    this.#goAhead();
    await shared.end();
  }

  closed(shared: SharedLease): void {
    void this.#giveUp(shared);
  }

  /** Ends the pause of a lease. */
  known(shared: SharedLease): void {
    if (this.#paused !== shared) return;
    this.#paused = undefined;
    void this.#follow(shared);
  }

  gaveUp(waiter: Waiter, reason: unknown): void {
    if (!waiter.place?.leave()) return;
    // The last caller cancels the contender, and its wait ends when the contender has left the queue.
    if (this.#waiting.size === 0 && this.#entry) this.#entry.abandon(waiter, reason);
    else this.#failGivenUp(waiter);
    this.#goAhead();
  }

  get #sharedLeases(): SharedLease[] {
    return this.#shared ? [...this.#closed, this.#shared] : [...this.#closed];
  }

  /** Whether a caller of this process excludes this one: it holds the key, or is ahead in a queue that moves. */
  #isTaken({ target: { mode } }: CallerRequest): boolean {
    if (mode === 'read') return false;
    if (this.#shared) return !this.#shared.isIdle || this.#waiting.size > 0;
    // While the servers are out of reach, only the backend can say whether the key is taken.
    return this.#backend.state === 'connected' && this.#waiting.size > 0;
  }

  /** Whether a lease is here that may admit a caller after a round trip, or in the next turn of the event loop. */
  get #isUndecided(): boolean {
    return this.#turn.isLong || this.#shared?.admission === 'in doubt';
  }

  async #untilDecided(request: CallerRequest): Promise<void> {
    if (this.#shared?.admission === 'in doubt') await orAbort(this.#shared.untilKnown(), request.signal);
    else await nextTurn();
    if (request.givenUp) throw request.givenUp.reason;
  }

  async #askBackend(request: CallerRequest): Promise<GrantedLease | null> {
    const sent = requestOf(request);
    const asked = this.#backend.acquire(sent);
    const refusal = asked.then(
      (lease) => (lease ? undefined : null),
      (error: unknown) => error,
    );
    this.#sentTry = { number: ++this.#sent, refusal };
    try {
      const granted = await asked;
      return granted && this.#grant(this.#begin(granted, sent), request.target, request.label);
    } finally {
      this.#sentTry = undefined;
      // Before the next try is sent: waiting callers are delayed by one try at most.
      this.#goAhead();
    }
  }

  /** Admits waiting callers to the present lease, or queues a contender for them. */
  #goAhead(): void {
    const { first } = this.#waiting;
    if (this.#shared) {
      if (first) void this.#follow(this.#shared);
    } else if (!this.#entry && !this.#sentTry) {
      if (first) void this.#acquire((this.#entry = new PendingAcquisition(first.request, this.#arrived)));
      else if (this.#closed.length === 0 && this.#tries === 0) this.#onEmpty(this);
    }
  }

  /**
   * Admits waiting callers where allowed. Gives the lease up for those that it does not admit any more. A lease that no
   * caller uses or waits for is kept warm if that is allowed, and given up otherwise.
   */
  #follow(shared: SharedLease): Promise<void> | undefined {
    const admission = this.#serve(shared);
    if (this.#paused === shared) return undefined;
    if (this.#waiting.size > 0) {
      if (admission === 'over') return this.#giveUp(shared, 'bounds');
      shared.expectDemand();
    } else if (shared.isIdle) {
      if (!shared.mayBeKept) return this.#giveUp(shared);
      shared.keep();
    }
    return undefined;
  }

  /** Callers join the newest lease. An older lease, of readers only, remains until its holders have released it. */
  #begin(lease: GrantedLease, { keeps = false }: LockRequest): SharedLease {
    const older = this.#shared;
    const shared = (this.#shared = new SharedLease(lease, keeps, this));
    if (older?.isIdle) void older.end();
    else if (older) this.#close(older);
    return shared;
  }

  /** Admits waiting callers. Returns the answer to the first that is not admitted: each answer reads the clock twice. */
  #serve(shared: SharedLease): LocalAdmission | undefined {
    for (let waiter = this.#waiting.first; waiter; waiter = this.#waiting.first) {
      const { admission } = shared;
      if (admission === 'in doubt') this.#paused = shared;
      if (admission !== 'open') return admission;
      if (this.#turn.isLong) {
        this.#pauseForTurn(shared);
        return undefined;
      }
      this.#hand(shared, waiter);
      if (shared.mode !== 'read') return 'full';
    }
    return undefined;
  }

  #pauseForTurn(shared: SharedLease): void {
    if (this.#paused !== shared) void nextTurn().then(() => this.known(shared));
    this.#paused = shared;
  }

  #hand(shared: SharedLease, waiter: Waiter): void {
    const { request } = waiter;
    waiter.place?.leave();
    const lease = this.#grant(shared, request.target, request.label);
    request.settled(lease);
    waiter.resolve(lease);
  }

  #grant(shared: SharedLease, target: LocalTarget, label?: string): GrantedLease {
    this.#turn.step();
    return shared.grant(target, label);
  }

  /** Queues the next contender before this one is deleted, so that both are in one transaction. */
  async #giveUp(shared: SharedLease, why: LocalEndEvent['why'] = 'idle'): Promise<void> {
    if (shared !== this.#shared) return;
    this.#shared = undefined;
    shared.use?.endsAs(why);
    const { isIdle } = shared;
    if (!isIdle) this.#close(shared);
    this.#goAhead();
    if (isIdle) await shared.end();
  }

  /** Admits no more callers. The lease is released with its last holder. */
  #close(shared: SharedLease): void {
    this.#closed = [...this.#closed, shared];
    shared.close();
  }

  async #acquire(entry: PendingAcquisition): Promise<void> {
    let lease: GrantedLease | null;
    try {
      lease = await this.#backend.acquire(entry.request);
    } catch (error) {
      return this.#refused(entry, error);
    }
    this.#entry = undefined;
    if (lease) await this.#granted(lease, entry.request);
    for (const waiter of entry.abandonedBy) this.#failGivenUp(waiter);
    if (!lease) this.#goAhead();
  }

  #granted(lease: GrantedLease, request: LockRequest): Promise<void> | undefined {
    const { first } = this.#waiting;
    // A try was granted a lease meanwhile, and no caller waits for a second one.
    if (this.#shared && !first) return lease.release();
    const shared = this.#begin(lease, request);
    // The first caller gets the lease even if it already admits no more callers, and is notified of what happens to it.
    if (first && lease.isHeld()) this.#hand(shared, first);
    return this.#follow(shared);
  }

  #refused({ abandonedBy, lastNumber }: PendingAcquisition, error: unknown): void {
    this.#entry = undefined;
    // Later callers have not waited for the request that failed.
    const isConcerned = ({ number }: Waiter) => abandonedBy.length === 0 && number <= lastNumber;
    for (let { first } = this.#waiting; first && isConcerned(first); { first } = this.#waiting) {
      this.#waiting.shift();
      first.fail(error);
    }
    for (const waiter of abandonedBy) this.#failGivenUp(waiter);
    this.#goAhead();
  }

  #failGivenUp(waiter: Waiter): void {
    const reason = waiter.request.givenUp?.reason;
    waiter.fail(this.#backend.explain?.(reason) ?? reason);
  }
}

function asCaller({ label, acquiredAt }: GrantedLease): LocalCaller {
  return { state: 'held', label, since: acquiredAt };
}
