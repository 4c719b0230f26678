import { deferred } from '../async/deferred.js';
import type { Term } from '../contract/elections.js';
import type { Lease } from '../contract/lease.js';
import type { UsingOptions } from '../contract/lock.js';
import { guarded, runUnder } from '../service/held-leases.js';
import { EnteredTerm, isUnder } from './entered-term.js';
import type { HeldTerm } from './held-term.js';

/** One term of this application, and the work that runs under it. */
export class LeaderTerm {
  readonly term: HeldTerm;
  /** The term as seen by the work under it. */
  readonly seen: Term;
  /** Resolves as soon as the term is asked to end. */
  readonly given: Promise<void>;
  readonly #given = deferred();
  readonly #runs = new Set<Promise<unknown>>();
  #isOpen = false;
  #isClosed = false;

  constructor(term: HeldTerm) {
    this.term = term;
    this.seen = new EnteredTerm(term, () => this.stepDown());
    this.given = this.#given.promise;
  }

  /** Allows work to begin under the term. */
  open(): void {
    this.#isOpen = !this.#isClosed;
  }

  /** Allows no further work, except calls made by work that has begun. */
  close(): void {
    this.#isClosed = true;
    this.#isOpen = false;
  }

  /** Whether the term may begin: it is held, and has not been asked to end. */
  get mayBegin(): boolean {
    return !this.#isClosed && this.term.isHeld();
  }

  /** Whether work that is requested now may run. */
  get admits(): boolean {
    return (this.#isOpen || isUnder(this.term)) && this.term.isHeld();
  }

  /** Runs the work under the term. */
  run<T>(work: (lease: Lease) => T | Promise<T>, onLost: UsingOptions['onLost']): Promise<T> {
    const running = this.enclose(() => guarded(this.seen, { onLost: onLost ?? 'throw' }, work));
    this.#runs.add(running);
    const forget = () => this.#runs.delete(running);
    running.then(forget, forget);
    return running;
  }

  /** Runs code that belongs to the term and does not count as work. */
  enclose<T>(work: () => T | Promise<T>): Promise<T> {
    return runUnder(this.seen, work);
  }

  /** Resolves when no work runs. */
  async idle(): Promise<void> {
    while (this.#runs.size > 0) await Promise.allSettled(this.#runs);
  }

  /**
   * Ends the term when the work under it has ended, and resolves then. For a call from that work it resolves at once,
   * because the work would wait for itself.
   */
  async stepDown(): Promise<void> {
    this.close();
    this.#given.resolve();
    if (!isUnder(this.term)) await this.term.released;
  }
}
