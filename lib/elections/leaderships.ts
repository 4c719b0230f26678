import { ElectionClient } from '../service/election-client.js';
import { connectionOf } from '../service/lock.service.js';
import type { LockService } from '../service/lock.service.js';
import { HeldTerms } from './held-term.js';
import { Leadership } from './leadership.js';

// Nest injects the LockService into a decorated class; the elections of the same connection are found through it.
const leadershipsByLocks = new WeakMap<LockService, Leaderships>();

/** The elections of a connection, or `undefined` for a `LockService` that `LockModule` did not make. */
export function leadershipsOf(locks: LockService): Leaderships | undefined {
  return leadershipsByLocks.get(locks);
}

/** All elections that an application takes part in by itself, on one connection. */
export class Leaderships {
  readonly terms: HeldTerms;
  readonly elections: ElectionClient;
  readonly #leaderships = new Map<string, Leadership>();
  #isStarted = false;

  constructor(locks: LockService) {
    this.elections = new ElectionClient(connectionOf(locks));
    this.terms = new HeldTerms(this.elections);
    leadershipsByLocks.set(locks, this);
  }

  /**
   * Takes part in this election from now on, or from the start.
   * @param usedBy the decorator that needs it, for messages
   * @throws LockConfigurationError for a name that is not valid, and when no service is set
   */
  of(name: string, usedBy?: string): Leadership {
    const known = this.find(name);
    if (known) return known;
    this.elections.check(name, usedBy);
    const leadership = new Leadership(name, this.terms);
    this.#leaderships.set(name, leadership);
    // The method was not found at the start: it belongs to a module that is loaded lazily.
    if (this.#isStarted) leadership.begin();
    return leadership;
  }

  find(name: string): Leadership | undefined {
    return this.#leaderships.get(name);
  }

  start(): void {
    this.#isStarted = true;
    this.#leaderships.forEach((leadership) => leadership.begin());
  }

  stop(): void {
    this.#isStarted = false;
    this.#leaderships.forEach((leadership) => leadership.stop());
  }
}
