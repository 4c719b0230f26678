import { Logger } from '@nestjs/common';
import { orAbort } from '../async/abort.js';
import { backoff, pause } from '../async/timer.js';
import { now } from '../async/clock.js';
import { LockNotLeaderError, LockShutdownError } from '../contract/errors.js';
import type { Lease } from '../contract/lease.js';
import type { Lock, UsingOptions } from '../contract/lock.js';
import type { Term } from '../contract/elections.js';
import { ElectionHooks } from './election-hooks.js';
import type { HeldTerm, HeldTerms } from './held-term.js';
import { LeaderTerm } from './leader-term.js';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

const logger = new Logger('LeaderElection');

/**
 * An application's part in one election. It campaigns from the application's start until its shutdown, term after term.
 * Work of the leader only runs here while it leads.
 */
export class Leadership implements Pick<Lock, 'using'> {
  readonly hooks = new ElectionHooks();
  readonly #name: string;
  readonly #terms: HeldTerms;
  readonly #stopping = new AbortController();
  readonly #pauses = backoff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
  #leaderTerm: LeaderTerm | undefined;
  #isCampaigning = false;
  #trouble: string | undefined;
  #isKnownToFollow = false;

  constructor(name: string, terms: HeldTerms) {
    this.#name = name;
    this.#terms = terms;
  }

  /** The term that is held, as seen by the work under it. */
  get term(): Term | undefined {
    return this.#leaderTerm?.term.isHeld() ? this.#leaderTerm.seen : undefined;
  }

  /** Begins to campaign. Calling it again does nothing more. */
  begin(): void {
    if (this.#isCampaigning || this.#stopping.signal.aborted) return;
    this.#isCampaigning = true;
    void this.#campaign();
  }

  /** Ends the leadership. No further work begins. Work that has begun may end, then the term is resigned. */
  stop(): void {
    this.#stopping.abort(new LockShutdownError(this.#name));
    this.#leaderTerm?.close();
  }

  /** Ends the term when the work under it has ended, and campaigns again. */
  async resign(): Promise<void> {
    await this.#leaderTerm?.stepDown();
  }

  /** Runs the work under the term. @throws LockNotLeaderError when there is none; the work did not run */
  async using<T>(work: (lease: Lease) => T | Promise<T>, options: UsingOptions = {}): Promise<T> {
    if (!this.#leaderTerm?.admits) throw this.#refusal();
    return this.#leaderTerm.run(work, options.onLost);
  }

  /**
   * The error for a refused call. The reason is logged once until it leads again: a method may be called many times a
   * second.
   */
  #refusal(): LockNotLeaderError {
    const error = new LockNotLeaderError(this.#name);
    if (this.#leaderTerm || this.#isKnownToFollow) return error;
    this.#isKnownToFollow = true;
    logger.debug(`"${this.#name}": does not lead; what only the leader does is left out until it does`);
    return error;
  }

  async #campaign(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const term = await this.#elected(signal);
      if (term) await this.#begun(term, signal);
      // The pause lets other candidates queue first when terms end as fast as they are won.
      await pause(this.#pauses.next(), signal).catch(() => {});
    }
  }

  /** Returns the term; `undefined` when it was not elected this time, or because it is stopping. */
  async #elected(signal: AbortSignal): Promise<HeldTerm | undefined> {
    try {
      return await this.#terms.stand(this.#name, { waitMs: Infinity, signal, label: undefined, value: undefined });
    } catch (error) {
      if (error instanceof LockShutdownError) this.stop();
      else this.#troubled(error);
      return undefined;
    }
  }

  #troubled(error: unknown): void {
    const trouble = String(error);
    this.#terms.publish('trouble', this.#name, undefined, error);
    if (trouble !== this.#trouble) logger.warn(`"${this.#name}": cannot campaign: ${trouble}`);
    this.#trouble = trouble;
  }

  /** Begins a term. A term that is won at the moment of a shutdown never begins, nor does one that is lost by then. */
  async #begun(term: HeldTerm, signal: AbortSignal): Promise<void> {
    if (signal.aborted || !term.isHeld()) await term.resign();
    else await this.#serve(term, signal);
  }

  async #serve(term: HeldTerm, signal: AbortSignal): Promise<void> {
    logger.log(`"${this.#name}": leads (term ${term.fencingToken})`);
    this.#trouble = undefined;
    this.#isKnownToFollow = false;
    const begun = now();
    const leaderTerm = new LeaderTerm(term);
    this.#leaderTerm = leaderTerm;
    const leftOut = await this.hooks.elected(leaderTerm);
    leaderTerm.open();
    await orAbort(Promise.race([term.over, leaderTerm.given]), signal).catch(() => {});
    leaderTerm.close();
    await Promise.race([term.over, leaderTerm.idle()]);
    await this.hooks.deposed(leaderTerm, leftOut);
    logger.log(`"${this.#name}": leads no more (term ${term.fencingToken})`);
    await term.resign();
    if (now() - begun > LONGEST_PAUSE_MS) this.#pauses.reset();
    this.#leaderTerm = undefined;
  }
}
