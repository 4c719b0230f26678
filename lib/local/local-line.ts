import { orAbort, putBack, takeController } from '../async/abort.js';
import { promised } from '../async/deferred.js';
import { nextTurn } from '../async/loop-turn.js';
import type { LoopBudget } from '../async/loop-turn.js';
import { LockUnavailableError } from '../contract/errors.js';
import type { GrantedLease } from '../contract/granted-lease.js';
import type { LockBackend } from '../contract/lock-backend.js';
import { requestOf } from '../contract/lock-request.js';
import type { CallerRequest, LocalTarget } from '../contract/lock-request.js';
import { SharedLease, Yield } from './shared-lease.js';
import type { TenureListener } from './shared-lease.js';
import { localCallers, localHolders, WaitingCallers } from './waiting-callers.js';
import type { LocalCaller, LocalWaiter, WaiterListener } from './waiting-callers.js';

/** A try on its way to the backend. */
interface SentTry {
  readonly number: number;
  /** `undefined`: granted; `null`: not this time; or the error. */
  readonly refusal: Promise<unknown>;
}

/**
 * The callers of one process that want one key in one mode, behind one contender of the backend's. A release hands the
 * key to the next of them in memory, within bounds once another process waits (see `HandOverLimit`); then the contender
 * gives way, and a new one lines up for those who are left. Readers hold together, and go together.
 *
 * When the session is suspended or lost the contender is not handed on any more; those who wait line up again.
 */
export class LocalLine implements TenureListener, WaiterListener {
  readonly #backend: GrantingBackend;
  readonly #turn: LoopBudget;
  readonly #onEmpty: () => void;
  readonly #waiting: WaitingCallers;
  #tenure: SharedLease | undefined;
  readonly #rest = new Yield((tenure) => void this.#goOn(tenure));
  /** Those that nobody enters any more, while callers are still inside. */
  readonly #closed = new Set<SharedLease>();
  #entry: PendingAcquisition | undefined;
  /** Tries under way; the line stays for as long as there are any. */
  #tries = 0;
  /** Tries that were sent to the backend so far. */
  #sent = 0;
  #sentTry: SentTry | undefined;

  /**
   * @param turn counts the hand-overs of this process
   * @param onEmpty called when nobody holds, waits, or is on the way
   */
  constructor(backend: GrantingBackend, turn: LoopBudget, onEmpty: () => void) {
    this.#backend = backend;
    this.#waiting = new WaitingCallers(backend, this);
    this.#turn = turn;
    this.#onEmpty = onEmpty;
  }

  /** Whether the key is kept here without being used. */
  get isKept(): boolean {
    return this.#tenure?.isIdle ?? false;
  }

  /** Who holds the key here, and who waits for it, in order. */
  get callers(): LocalCaller[] {
    return localCallers(this.#tenures, this.#waiting);
  }

  /** Whether a lease of the backend's is here, in use or not. */
  get hasKey(): boolean {
    return this.#tenures.length > 0;
  }

  /** Who holds the key here: those that came first, up to `most`. */
  holders(most: number): LocalCaller[] {
    return localHolders(this.#tenures, most);
  }

  /** A lease at once, if the key is here and no caller waits for it. */
  takeNow(target: LocalTarget, label?: string): GrantedLease | undefined {
    if (this.#tenure?.admission !== 'open' || this.#waiting.size > 0 || this.#turn.isLong) return undefined;
    return this.#grant(this.#tenure, target, label);
  }

  /** Stands in line until the key is the caller's. @throws what the backend says, the reason why the caller gave up */
  wait(request: CallerRequest): Promise<GrantedLease> {
    return new Promise((resolve, reject) => {
      const waiter = this.#waiting.add(request, resolve, reject);
      if (request.givenUp) return this.gaveUp(waiter, request.givenUp.reason);
      request.onGivenUp(waiter);
      this.#goAhead();
    });
  }

  /**
   * Asks once: the standing lease, then the backend. `null` when this process excludes the caller, or the backend says so.
   * One try is on its way at a time. Its lease is shared with all that wait for it, its refusal with those that had come
   * before it was sent: to the others, the key may have been free ever since.
   * @throws what the backend says, the reason why the caller gave up
   */
  async ask(request: CallerRequest): Promise<GrantedLease | null> {
    const sentBefore = this.#sent;
    this.#tries++;
    try {
      for (;;) {
        if (this.#isUndecided) await this.#untilDecided(request);
        const lease = this.takeNow(request, request.label);
        if (lease) return lease;
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

  /** Gives the key back if nobody uses it. */
  async giveUpKept(): Promise<void> {
    if (this.#tenure?.isIdle) await this.#giveUp(this.#tenure);
  }

  async left(tenure: SharedLease, keepMs: number): Promise<void> {
    if (tenure !== this.#tenure) return this.#leftClosed(tenure);
    this.#serve(tenure);
    if (!tenure.isIdle || this.#rest.isOf(tenure)) return;
    if (keepMs > 0 && this.#waiting.size === 0 && tenure.mayBeKept) return tenure.keep(keepMs);
    await this.#giveUp(tenure);
  }

  async #leftClosed(tenure: SharedLease): Promise<void> {
    if (!tenure.isIdle) return;
    this.#closed.delete(tenure);
    this.#enter();
    await tenure.end();
  }

  closed(tenure: SharedLease): void {
    void this.#giveUp(tenure);
  }

  known(tenure: SharedLease): void {
    this.#rest.end(tenure);
  }

  get #tenures(): SharedLease[] {
    return this.#tenure ? [...this.#closed, this.#tenure] : [...this.#closed];
  }

  /** Whether a caller of this process excludes this one: it holds the key, or is ahead in a queue that moves. */
  #isTaken({ mode }: CallerRequest): boolean {
    if (mode === 'read') return false;
    if (this.#tenure) return !this.#tenure.isIdle || this.#waiting.size > 0;
    // Out of reach of the servers, it is not known whether the key is taken: the backend says that.
    return this.#backend.state === 'connected' && this.#waiting.size > 0;
  }

  /** Whether a lease stands here that a caller may be let into within a round trip, or a turn of the event loop. */
  get #isUndecided(): boolean {
    return this.#turn.isLong || this.#tenure?.admission === 'in doubt';
  }

  async #untilDecided(request: CallerRequest): Promise<void> {
    while (this.#tenure?.admission === 'in doubt') await orAbort(this.#tenure.untilKnown(), request.signal);
    while (this.#turn.isLong) await nextTurn();
    if (request.givenUp) throw request.givenUp.reason;
  }

  async #askBackend(request: CallerRequest): Promise<GrantedLease | null> {
    const asked = this.#backend.acquire(requestOf(request));
    const refusal = asked.then(
      (lease) => (lease ? undefined : null),
      (error: unknown) => error,
    );
    this.#sentTry = { number: ++this.#sent, refusal };
    try {
      const granted = await asked;
      return granted && this.#grant(this.#begin(granted, request.keepMs > 0), request, request.label);
    } finally {
      this.#sentTry = undefined;
      // Before the next try is sent: callers that wait are delayed by one try at most.
      this.#goAhead();
    }
  }

  /** Callers that wait follow those inside, or line up. */
  #goAhead(): void {
    if (this.#tenure) void this.#follow(this.#tenure);
    else this.#enter();
  }

  /** Lets in the callers who may come in, and lines up anew for those who may not follow the ones inside. */
  #follow(tenure: SharedLease): Promise<void> | undefined {
    this.#serve(tenure);
    if (this.#waiting.size === 0 || this.#rest.isOf(tenure)) return undefined;
    if (tenure.admission === 'over') return this.#giveUp(tenure);
    tenure.expectDemand();
    return undefined;
  }

  /** Callers join the lease that was granted last; an older one, of readers only, stays with those inside. */
  #begin(lease: GrantedLease, mayKeep: boolean): SharedLease {
    const older = this.#tenure;
    const tenure = (this.#tenure = new SharedLease(lease, mayKeep, this));
    if (older?.isIdle) void older.end();
    else if (older) this.#close(older);
    return tenure;
  }

  #serve(tenure: SharedLease): void {
    for (let waiter = this.#waiting.first; waiter; waiter = this.#waiting.first) {
      const { admission } = tenure;
      if (admission === 'in doubt') return this.#rest.hold(tenure);
      if (admission !== 'open') return;
      if (this.#turn.isLong) return this.#rest.begin(tenure);
      this.#hand(tenure, waiter);
    }
  }

  #hand(tenure: SharedLease, waiter: LocalWaiter): void {
    this.#waiting.remove(waiter);
    waiter.granted(this.#grant(tenure, waiter.request, waiter.request.label));
    if (this.#waiting.size > 0) tenure.expectDemand();
  }

  #grant(tenure: SharedLease, target: LocalTarget, label?: string): GrantedLease {
    this.#turn.step();
    return tenure.grant(target, label);
  }

  async #goOn(tenure: SharedLease): Promise<void> {
    if (tenure !== this.#tenure) return;
    await this.#follow(tenure);
    if (tenure.isIdle && !this.#rest.isOf(tenure)) await this.#giveUp(tenure);
  }

  /** The next contender lines up before this one leaves: both in one transaction. */
  async #giveUp(tenure: SharedLease): Promise<void> {
    if (tenure !== this.#tenure) return;
    this.#tenure = undefined;
    const { isIdle } = tenure;
    if (!isIdle) this.#close(tenure);
    this.#enter();
    if (isIdle) await tenure.end();
  }

  /** Nobody comes in any more; the lease goes back with the last caller inside. */
  #close(tenure: SharedLease): void {
    this.#closed.add(tenure);
    tenure.close();
  }

  #enter(): void {
    if (this.#tenure || this.#entry || this.#sentTry) return;
    const { first } = this.#waiting;
    if (!first) return this.#closed.size === 0 && this.#tries === 0 ? this.#onEmpty() : undefined;
    const entry = new PendingAcquisition(this.#backend, first, this.#waiting.lastNumber);
    this.#entry = entry;
    entry.lease.then(
      (lease) => this.#entered(entry, lease),
      (error: unknown) => this.#refused(entry, error),
    );
  }

  async #entered(entry: PendingAcquisition, lease: GrantedLease | null): Promise<void> {
    this.#entry = undefined;
    if (!lease) {
      this.#waiting.failGivenUp(entry.abandonedBy);
      return this.#enter();
    }
    entry.granted();
    // A try was granted a lease meanwhile, and nobody waits for a second one.
    if (this.#tenure && !this.#waiting.first) return this.#notNeeded(entry, lease);
    const tenure = this.#begin(lease, entry.keeps);
    // The first caller learns what becomes of the lease, even of one whose time is up already.
    if (this.#waiting.first && lease.isHeld()) this.#hand(tenure, this.#waiting.first);
    await this.#goOn(tenure);
    this.#waiting.failGivenUp(entry.abandonedBy);
  }

  async #notNeeded({ abandonedBy }: PendingAcquisition, lease: GrantedLease): Promise<void> {
    await lease.release();
    this.#waiting.failGivenUp(abandonedBy);
  }

  #refused({ abandonedBy, lastNumber }: PendingAcquisition, error: unknown): void {
    this.#entry = undefined;
    if (abandonedBy.length === 0) this.#waiting.failUpTo(lastNumber, error);
    this.#waiting.failGivenUp(abandonedBy);
    this.#enter();
  }

  gaveUp(waiter: LocalWaiter, reason: unknown): void {
    if (!this.#waiting.remove(waiter)) return;
    // The last one takes the contender along, and is told when that has left.
    if (this.#waiting.size === 0 && this.#entry) this.#entry.abandon(waiter, reason);
    else this.#waiting.failGivenUp([waiter]);
    this.#enter();
  }
}

/** A contender of this process on its way to a lease, on behalf of all who wait in the local line. */
class PendingAcquisition {
  readonly lease: Promise<GrantedLease | null>;
  /** The number of the last caller who was there when it set out: what it ends with is theirs to know. */
  readonly lastNumber: number;
  readonly keeps: boolean;
  /** Those who gave up when nobody else waited; they are told when the contender has left. */
  readonly abandonedBy: LocalWaiter[] = [];
  readonly #abort = takeController();
  readonly #backend: GrantingBackend;

  constructor(backend: GrantingBackend, first: LocalWaiter, lastNumber: number) {
    this.#backend = backend;
    this.lastNumber = lastNumber;
    this.keeps = first.request.keepMs > 0;
    this.lease = promised(() => backend.acquire(requestOf(first.request, this.#abort.signal)));
  }

  /** There is a lease: nobody abandons it any more. */
  granted(): void {
    if (this.#backend.releasesSignals) putBack(this.#abort);
  }

  /** Leaves the line; `lease` then rejects with `reason`. */
  abandon(by: LocalWaiter, reason: unknown): void {
    this.abandonedBy.push(by);
    this.#abort.abort(reason);
  }
}

/** What a local line wants of its backend. */
export type GrantingBackend = Pick<LockBackend, 'acquire' | 'explain' | 'releasesSignals' | 'state'>;
