import type { SemaphoreLock } from '../../contract/semaphore.js';
import type { Journal } from './journal.js';
import { JournalledLock } from './journalled-lock.js';
import type { LockSeat } from './journalled-lock.js';

/** A semaphore that writes down who takes its permits. */
export class JournalledSemaphore extends JournalledLock implements SemaphoreLock {
  readonly #semaphore: SemaphoreLock;

  constructor(semaphore: SemaphoreLock, seat: LockSeat, journal: Journal) {
    super(semaphore, seat, journal);
    this.#semaphore = semaphore;
  }

  permits(): Promise<number> {
    return this.#semaphore.permits();
  }

  setPermits(permits: number): Promise<void> {
    return this.#semaphore.setPermits(permits);
  }
}
