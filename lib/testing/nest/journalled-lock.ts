import type { Lease, LeaseMode } from '../../contract/lease.js';
import type { AcquireOptions, Lock, UsingOptions } from '../../contract/lock.js';
import type { Journal } from './journal.js';
import { JournalledAcquisition } from './journalled-acquisition.js';

/** What a journalled lock is, and how long its callers wait at most. */
export interface LockSeat {
  readonly key: string;
  readonly mode: LeaseMode;
  /** How long a call waits that does not say, in milliseconds. */
  readonly waitMs: number;
  readonly longestWaitMs: number;
}

/** A lock that writes down who acquires it, and what becomes of the leases. */
export class JournalledLock implements Lock {
  readonly #lock: Lock;
  readonly #seat: LockSeat;
  readonly #journal: Journal;

  constructor(lock: Lock, seat: LockSeat, journal: Journal) {
    this.#lock = lock;
    this.#seat = seat;
    this.#journal = journal;
  }

  async acquire(options?: AcquireOptions): Promise<Lease> {
    return this.#noted(options, () => this.#lock.acquire(this.#limited(options, this.#seat.waitMs)));
  }

  async tryAcquire(options?: AcquireOptions): Promise<Lease | null> {
    return this.#noted(options, () => this.#lock.tryAcquire(this.#limited(options, 0)));
  }

  async using<T>(work: (lease: Lease) => T | Promise<T>, options?: UsingOptions): Promise<T> {
    const acquisition = this.#begin(options);
    // Who holds the key already enters it, and acquires nothing; but for permits, of which it takes more.
    if (this.#seat.mode === 'permit' || !this.#journal.isHeldHere(this.#seat.key)) acquisition.asked();
    let isEntered = false;
    const noted = (lease: Lease): T | Promise<T> => {
      isEntered = true;
      acquisition.acquired(lease);
      return work(lease);
    };
    try {
      return await this.#lock.using(noted, this.#limited(options, this.#seat.waitMs));
    } catch (error) {
      if (!isEntered) acquisition.failed(error);
      throw error;
    }
  }

  async #noted<L extends Lease | null>(options: AcquireOptions | undefined, ask: () => Promise<L>): Promise<L> {
    const acquisition = this.#begin(options);
    acquisition.asked();
    try {
      const lease = await ask();
      if (lease) acquisition.acquired(lease);
      else acquisition.turnedAway();
      return lease;
    } catch (error) {
      acquisition.failed(error);
      throw error;
    }
  }

  #begin(options: AcquireOptions | undefined): JournalledAcquisition {
    return new JournalledAcquisition(this.#journal, this.#seat.key, this.#seat.mode, options?.label);
  }

  // What is no option is left to the lock to refuse.
  #limited<O extends AcquireOptions>(options: O | undefined, defaultWaitMs: number): O | undefined {
    const { longestWaitMs } = this.#seat;
    const { waitMs = defaultWaitMs } = options ?? {};
    return waitMs > longestWaitMs ? ({ ...options, waitMs: longestWaitMs } as O) : options;
  }
}
