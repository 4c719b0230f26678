import { now } from '../../async/clock.js';
import { after } from '../../async/timer.js';
import { LinkedList } from '../../async/collections.js';
import type { Dispose } from '../../async/abort.js';
import { LockLostError } from '../../contract/errors.js';
import type { GrantedLease } from '../../contract/granted-lease.js';

/** The leases of one session. They are suspended, resumed and lost with it. */
export class SessionLeases {
  #leases = new LinkedList<GrantedLease>();
  readonly #deadline: () => number;
  #cancelTimer: Dispose | undefined;

  /** @param deadline until when, on `now()`, the session is surely alive; every reply may move it */
  constructor(deadline: () => number) {
    this.#deadline = deadline;
  }

  get size(): number {
    return this.#leases.size;
  }

  add(lease: GrantedLease): Dispose {
    const place = this.#leases.join(lease);
    this.#watchClock();
    return () => void place.leave();
  }

  /**
   * Loses the leases if the deadline has passed. Otherwise sets the timer again, for two reasons: the deadline may have
   * moved closer, and after a suspension of the machine its timers are late by that time.
   */
  check(): void {
    // The timer keeps running after the last lease: the next lease most often follows within microseconds.
    if (this.#leases.size === 0) return;
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

  #watchClock(): void {
    this.#cancelTimer ??= after(Math.max(0, this.#deadline() - now()), () => {
      this.#cancelTimer = undefined;
      this.check();
    });
  }

  #stopClock(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }
}
