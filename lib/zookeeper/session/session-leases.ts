import { now } from '../../async/clock.js';
import { after } from '../../async/timer.js';
import type { Dispose } from '../../async/abort.js';
import { LockLostError } from '../../contract/errors.js';
import type { GrantedLease } from '../../contract/granted-lease.js';

/** The leases that stand on one session: suspended, resumed and lost with it. */
export class SessionLeases {
  readonly #leases = new Set<GrantedLease>();
  readonly #deadline: () => number;
  #cancelTimer: Dispose | undefined;

  /** @param deadline until when, on `now()`, the session surely stands; it moves as the session is proven again */
  constructor(deadline: () => number) {
    this.#deadline = deadline;
  }

  add(lease: GrantedLease): Dispose {
    this.#leases.add(lease);
    this.#watchClock();
    return () => void this.#leases.delete(lease);
  }

  suspend(): void {
    this.#leases.forEach((lease) => lease.suspend());
  }

  resume(): void {
    this.#leases.forEach((lease) => lease.resume());
  }

  lose(reason: string): void {
    const lost = [...this.#leases];
    this.#leases.clear();
    this.#stopClock();
    lost.forEach((lease) => lease.lose(new LockLostError(lease.key, reason)));
  }

  #watchClock(): void {
    this.#cancelTimer ??= after(Math.max(0, this.#deadline() - now()), () => {
      this.#cancelTimer = undefined;
      // Not stopped with the last lease: the next one is most often there within microseconds.
      if (this.#leases.size === 0) return;
      if (this.#deadline() > now()) this.#watchClock();
      else this.lose('the session was not proven alive in time');
    });
  }

  #stopClock(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }
}
