import type { LoopTurn } from '../async/loop-turn.js';
import type { GrantedLease } from '../contract/granted-lease.js';
import { requestOf } from '../contract/lock-request.js';
import type { CallerRequest, LocalTarget } from '../contract/lock-request.js';
import type { GrantingBackend } from './granting-backend.js';
import { localCallers } from './local-callers.js';
import type { LocalCaller } from './local-callers.js';
import { LocalEntry } from './local-entry.js';
import { LocalTenure } from './local-tenure.js';
import type { TenureListener } from './local-tenure.js';
import type { LocalWaiter, WaiterListener } from './local-waiter.js';
import { Rest } from './rest.js';
import { WaitingCallers } from './waiting-callers.js';

/**
 * The callers of one process that want one key in one mode, behind one contender of the backend's. A release hands the
 * key to the next of them in memory, within bounds once another process waits (see `TurnBounds`); then the contender
 * gives way, and a new one lines up for those who are left. Readers hold together, and go together.
 *
 * When the session is suspended or lost the contender is not handed on any more; those who wait line up again.
 */
export class LocalLine implements TenureListener, WaiterListener {
  readonly #backend: GrantingBackend;
  readonly #turn: LoopTurn;
  readonly #onEmpty: () => void;
  readonly #waiting: WaitingCallers;
  #tenure: LocalTenure | undefined;
  readonly #rest = new Rest((tenure) => this.#goOn(tenure));
  /** Those that nobody enters any more, while callers are still inside. */
  readonly #closed = new Set<LocalTenure>();
  #entry: LocalEntry | undefined;
  #isAsking = false;

  /**
   * @param turn counts the hand-overs of this process
   * @param onEmpty called when nobody holds, waits, or is on the way
   */
  constructor(backend: GrantingBackend, turn: LoopTurn, onEmpty: () => void) {
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
    return localCallers([...this.#closed, ...(this.#tenure ? [this.#tenure] : [])], this.#waiting);
  }

  /** A lease at once, if the key is here and nobody waits for it. */
  takeNow(target: LocalTarget, label?: string): GrantedLease | undefined {
    if (!this.#tenure || this.#waiting.size > 0 || this.#turn.isLong || !this.#tenure.isOpen) return undefined;
    return this.#grant(this.#tenure, target, label);
  }

  /** Stands in line until the key is the caller's. @throws what the backend says, the reason why the caller gave up */
  wait(request: CallerRequest): Promise<GrantedLease> {
    return new Promise((resolve, reject) => {
      const waiter = this.#waiting.add(request, resolve, reject);
      if (request.givenUp) return this.gaveUp(waiter, request.givenUp.reason);
      request.onGivenUp(waiter);
      if (this.#tenure) this.#follow(this.#tenure);
      else this.#enter();
    });
  }

  /** Asks once, here and then the backend; whoever is here already would be before it in any case. `null`: not this time. */
  async ask(request: CallerRequest): Promise<GrantedLease | null> {
    const lease = this.takeNow(request, request.label);
    if (lease) return lease;
    if (this.#tenure || this.#entry || this.#isAsking || this.#waiting.size > 0) return null;
    this.#isAsking = true;
    try {
      const granted = await this.#backend.acquire(requestOf(request));
      return granted && this.#grant(this.#begin(granted, request.keepMs > 0), request, request.label);
    } finally {
      this.#isAsking = false;
      if (this.#tenure) this.#follow(this.#tenure);
      else this.#enter();
    }
  }

  /** Gives the key back if nobody uses it. */
  async giveUpKept(): Promise<void> {
    if (this.#tenure?.isIdle) await this.#giveUp(this.#tenure);
  }

  async left(tenure: LocalTenure, keepMs: number): Promise<void> {
    if (tenure !== this.#tenure) return this.#leftClosed(tenure);
    this.#serve(tenure);
    if (!tenure.isIdle || this.#rest.isOf(tenure)) return;
    if (keepMs > 0 && this.#waiting.size === 0 && tenure.mayBeKept) return tenure.keep(keepMs);
    await this.#giveUp(tenure);
  }

  async #leftClosed(tenure: LocalTenure): Promise<void> {
    if (!tenure.isIdle) return;
    this.#closed.delete(tenure);
    this.#enter();
    await tenure.end();
  }

  closed(tenure: LocalTenure): void {
    if (tenure === this.#tenure) void this.#giveUp(tenure);
  }

  known(tenure: LocalTenure): void {
    this.#rest.end(tenure);
  }

  /** Whoever may not follow those inside lines up at once, behind those who wait for these to go. */
  #follow(tenure: LocalTenure): void {
    if (tenure.isOpen || tenure.isInDoubt) this.#serve(tenure);
    else if (tenure.isIdle || tenure.isOver) void this.#giveUp(tenure);
    else tenure.expectDemand();
  }

  #begin(lease: GrantedLease, mayKeep: boolean): LocalTenure {
    this.#tenure = new LocalTenure(lease, mayKeep, this);
    return this.#tenure;
  }

  #serve(tenure: LocalTenure): void {
    for (let waiter = this.#waiting.first; waiter; waiter = this.#waiting.first) {
      if (!tenure.isOpen) return tenure.isInDoubt ? this.#rest.hold(tenure) : undefined;
      if (this.#turn.isLong) return this.#rest.begin(tenure);
      this.#hand(tenure, waiter);
    }
  }

  #hand(tenure: LocalTenure, waiter: LocalWaiter): void {
    this.#waiting.remove(waiter);
    waiter.granted(this.#grant(tenure, waiter.request, waiter.request.label));
    if (this.#waiting.size > 0) tenure.expectDemand();
  }

  #grant(tenure: LocalTenure, target: LocalTarget, label?: string): GrantedLease {
    this.#turn.step();
    return tenure.grant(target, label);
  }

  #goOn(tenure: LocalTenure): void {
    if (tenure !== this.#tenure) return;
    this.#serve(tenure);
    if (tenure.isIdle && !this.#rest.isOf(tenure)) void this.#giveUp(tenure);
  }

  /** The next contender lines up before this one leaves: both in one transaction. */
  async #giveUp(tenure: LocalTenure): Promise<void> {
    this.#tenure = undefined;
    this.#enter();
    if (tenure.isIdle) return tenure.end();
    tenure.close();
    this.#closed.add(tenure);
  }

  #enter(): void {
    if (this.#tenure || this.#entry || this.#isAsking) return;
    const { first } = this.#waiting;
    if (!first) return this.#closed.size === 0 ? this.#onEmpty() : undefined;
    const entry = new LocalEntry(this.#backend, first, this.#waiting.lastNumber);
    this.#entry = entry;
    entry.lease.then(
      (lease) => this.#entered(entry, lease),
      (error: unknown) => this.#refused(entry, error),
    );
  }

  async #entered(entry: LocalEntry, lease: GrantedLease | null): Promise<void> {
    this.#entry = undefined;
    if (!lease) return this.#enter();
    entry.granted();
    const tenure = this.#begin(lease, entry.keeps);
    // Whatever has become of the lease on its way, it is the first one's to know.
    if (this.#waiting.first && lease.isHeld()) this.#hand(tenure, this.#waiting.first);
    this.#serve(tenure);
    if (tenure.isIdle || (tenure.isOver && this.#waiting.size > 0)) await this.#giveUp(tenure);
    this.#waiting.failGivenUp(entry.abandonedBy);
  }

  #refused({ abandonedBy, lastNumber }: LocalEntry, error: unknown): void {
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
