import type { Dispose } from '../async/abort.js';
import { now } from '../async/clock.js';
import { LinkedList } from '../async/collections.js';
import type { Place } from '../async/collections.js';
import { after } from '../async/timer.js';
import { LockLostError } from '../contract/errors.js';
import type { GrantedLease } from '../contract/granted-lease.js';

// The largest assumed difference in rate of two clocks. Quartz differs by far less, a clock that is being slewed by up
// to 1 %.
const RATE_SHARE = 0.02;
// Timers fire late.
const TIMER_SLACK_MS = 15;

/**
 * The time until which servers cannot have ended a session, on `now()`.
 * @param provenAt when the last request that proves the session was sent
 * @param timeoutMs the time after which the servers end the session, counted from when they received that request
 */
export function provenUntil(provenAt: number, timeoutMs: number): number {
  return provenAt + timeoutMs * (1 - RATE_SHARE) - TIMER_SLACK_MS;
}

/** The leases of one session. They are suspended, resumed and lost with it. */
export class SessionLeases {
  #leases = new LinkedList<GrantedLease>();
  readonly #deadline: () => number;
  #cancelTimer: Dispose | undefined;
  #closedBy: string | undefined;

  /** @param deadline until when, on `now()`, the session is surely alive; every reply may move it */
  constructor(deadline: () => number) {
    this.#deadline = deadline;
  }

  get size(): number {
    return this.#leases.size;
  }

  /** Ties a lease to the session, until it leaves its place. After `close` it is lost at once. */
  add(lease: GrantedLease): Place<GrantedLease> {
    const place = this.#leases.join(lease);
    if (this.#closedBy !== undefined) this.lose(this.#closedBy);
    else if (!this.#cancelTimer) this.#watchClock();
    return place;
  }

  /**
   * Loses the leases if the deadline has passed. Otherwise sets the timer again, for two reasons: the deadline may have
   * moved closer, and after a suspension of the machine its timers are late by that time.
   */
  check(): void {
    // The next lease starts the timer again. Leases that come and go between two checks share one.
    if (this.#leases.size === 0) return this.#stopClock();
    if (this.#deadline() <= now()) return this.lose('the session was not proven alive in time');
    this.#stopClock();
    this.#watchClock();
  }

  suspend(): void {
    this.#leases.members.forEach((lease) => lease.suspend());
  }

  resume(): void {
    this.#leases.members.forEach((lease) => lease.resume());
  }

  lose(reason: string): void {
    const lost = this.#leases.members;
    this.#leases = new LinkedList();
    this.#stopClock();
    lost.forEach((lease) => lease.lose(new LockLostError(lease.key, reason)));
  }

  /** Loses the leases, and those of grants that are still on their way. */
  close(reason: string): void {
    this.#closedBy = reason;
    this.lose(reason);
  }

  #watchClock(): void {
    const rung = () => {
      this.#cancelTimer = undefined;
      this.check();
    };
    this.#cancelTimer = after(Math.max(0, this.#deadline() - now()), rung, 'unref');
  }

  #stopClock(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }
}
