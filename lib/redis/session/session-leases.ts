import { LinkedList } from '../../async/collections.js';
import type { Dispose } from '../../async/abort.js';
import { now } from '../../async/clock.js';
import { after } from '../../async/timer.js';
import { LockLostError } from '../../contract/errors.js';
import type { GrantedLease } from '../../contract/granted-lease.js';

/** The leases of one session. They are suspended, resumed and lost together. */
export class SessionLeases {
  readonly #leases = new LinkedList<GrantedLease>();
  readonly #deadline: () => number;
  #isTimed = false;
  #closedBy: string | undefined;

  /** @param deadline until when, on `now()`, the leases are valid; it may move */
  constructor(deadline: () => number) {
    this.#deadline = deadline;
  }

  get size(): number {
    return this.#leases.size;
  }

  add(lease: GrantedLease): Dispose {
    const place = this.#leases.join(lease);
    if (this.#closedBy === undefined) this.#time();
    else this.lose(this.#closedBy);
    return () => void place.leave();
  }

  /** Loses the leases if the deadline has passed, for example while the process was paused. */
  check(): void {
    if (this.#leases.size > 0 && this.#deadline() <= now()) this.lose('its session was not renewed in time');
  }

  suspend(): void {
    this.#leases.members.forEach((lease) => lease.suspend());
  }

  resume(): void {
    this.#leases.members.forEach((lease) => lease.resume());
  }

  lose(reason: string): void {
    for (let lease = this.#leases.shift(); lease; lease = this.#leases.shift()) {
      lease.lose(new LockLostError(lease.key, reason));
    }
  }

  /** Loses the leases, and those of grants that are still on their way. */
  close(reason: string): void {
    this.#closedBy = reason;
    this.lose(reason);
  }

  // The timer keeps running after the last lease: the next lease most often follows within microseconds.
  #time(): void {
    if (this.#isTimed) return;
    this.#isTimed = true;
    after(
      Math.max(1, this.#deadline() - now()),
      () => {
        this.#isTimed = false;
        this.check();
        if (this.#leases.size > 0) this.#time();
      },
      'unref',
    );
  }
}
