import { Logger } from '@nestjs/common';
import { backoff, pause } from '../async/timer.js';
import { LockLostError, LockShutdownError, LockUnavailableError } from '../contract/errors.js';
import type { Lease } from '../contract/lease.js';
import { Attempt } from './attempt.js';
import type { Ran } from './attempt.js';
import { Claim } from './claim.js';
import type { Skip } from './claim.js';
import type { JobContext } from './job-context.js';
import type { SkipReason } from '../contract/job-event.js';
import { nominalTick } from './schedule.js';
import type { Body } from './perform-run.js';
import type { ScheduledJob } from './scheduled-job.js';
import { isToRunAgain } from './marker.js';
import type { Firing } from './marker.js';

/** Ends a claim that is no longer needed. */
export class ClaimEndedError extends Error {
  constructor(readonly why: Extract<SkipReason, 'superseded' | 'shutdown'>) {
    super(why);
  }
}

const logger = new Logger('CronLock');

// While the servers cannot be reached, a run that has to be finished is looked for again after such pauses.
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

/** The outcome of an attempt to finish another instance's run: what became of the lock. */
type Finishing = 'acquired' | 'not granted' | 'unavailable';

/**
 * One job in this process: every firing of it, and the wait for another instance's run that may have to be finished.
 */
export class GuardedJob {
  readonly #job: ScheduledJob;
  readonly #context: JobContext;
  readonly #attempts = new Set<Attempt>();
  #claiming: AbortController | undefined;
  #standby: Promise<void> | undefined;

  constructor(job: ScheduledJob, context: JobContext) {
    this.#job = job;
    this.#context = context;
  }

  /** Settles when this process neither waits to finish a run nor finishes one. Never rejects. */
  get standby(): Promise<void> | undefined {
    return this.#standby;
  }

  /**
   * Runs the method, or resolves to `undefined` when this firing is not to run it.
   * @throws the method's own error, LockLostError, LockUnavailableError, LockConfigurationError
   */
  async fire(body: Body): Promise<unknown> {
    // The tick is not computed: the scheduler is shutting down as well.
    if (this.#context.stopping.aborted) return this.#skip({ job: this.#job, tick: undefined }, { skipped: 'shutdown' });
    const firing = this.#firing();
    const outcome = this.#refusedAtOnce(firing) ?? (await this.#decide(firing, body));
    if ('result' in outcome) return outcome.result;
    return this.#skip(firing, outcome);
  }

  /** Ensures that a run which its instance did not finish is finished. Never rejects. */
  async resume(body: Body): Promise<void> {
    if (this.#job.options.onCrash !== 'rerun') return;
    try {
      const { marker } = await this.#context.markers.read(this.#job.key);
      if (marker && isToRunAgain(marker, this.#job)) this.#standBy(body);
    } catch (error) {
      logger.debug(`${this.#job.name}: could not look for a run to finish (${String(error)})`);
      if (isUnavailable(error)) this.#standBy(body);
    }
  }

  #firing(): Firing {
    const job = this.#job;
    const now = this.#context.wallNow();
    const { schedule } = job;
    if (schedule?.kind !== 'cron') return { job, now, tick: undefined, following: undefined };
    const following = this.#context.ticks.followingOf(schedule);
    return { job, now, tick: nominalTick(following, now), following };
  }

  #refusedAtOnce({ tick, following }: Firing): Skip | undefined {
    if (following && tick === undefined) return { skipped: 'early' };
    return [...this.#attempts].some(({ isRunning }) => isRunning) ? { skipped: 'overrun' } : undefined;
  }

  /**
   * Decides the firing. An earlier unfinished run costs this tick only while that run continues. If no instance runs
   * it, both are due.
   */
  async #decide(firing: Firing, body: Body): Promise<Ran | Skip> {
    const outcome = await this.#claim(firing, body);
    if ('result' in outcome || !outcome.isUnfinished) return outcome;
    const isBehind = firing.tick !== undefined && outcome.skipped === 'overrun';
    if (isBehind && (await this.#finishInTurn(body, 0)) === 'acquired') {
      return this.#claiming ? { skipped: 'superseded' } : this.#decide(firing, body);
    }
    this.#standBy(body);
    return outcome;
  }

  /**
   * Runs the claim of a firing, and aborts the previous one. A firing that is still undecided when the next one begins
   * is about a tick that has passed.
   */
  async #claim(firing: Firing, body: Body): Promise<Ran | Skip> {
    this.#claiming?.abort(new ClaimEndedError('superseded'));
    const claiming = (this.#claiming = new AbortController());
    try {
      return await this.#attempting(body, (attempt) =>
        new Claim(firing, attempt, this.#context, claiming.signal).decide().catch((error: unknown) => {
          if (attempt.hasBegun) throw error;
          return this.#refusal(error);
        }),
      );
    } finally {
      if (this.#claiming === claiming) this.#claiming = undefined;
    }
  }

  async #attempting<T>(body: Body, work: (attempt: Attempt) => Promise<T>): Promise<T> {
    const attempt = new Attempt(this.#job, this.#context, body);
    this.#attempts.add(attempt);
    try {
      return await work(attempt);
    } finally {
      this.#attempts.delete(attempt);
    }
  }

  /** The skip for an error that is expected in normal operation. @throws every other error */
  #refusal(error: unknown): Skip {
    if (error instanceof ClaimEndedError) return { skipped: error.why };
    if (error instanceof LockShutdownError || this.#context.stopping.aborted) return { skipped: 'shutdown' };
    if (isUnavailable(error)) return { skipped: 'unavailable', error };
    throw error;
  }

  #skip(
    { job: { name, key, options }, tick }: Pick<Firing, 'job' | 'tick'>,
    { skipped: reason, error }: Skip,
  ): undefined {
    const date = tick === undefined ? undefined : new Date(tick);
    this.#context.emit({ type: 'skipped', name, key, tick: date, reason, error });
    if (error && options.onUnavailable === 'throw') throw error;
    return undefined;
  }

  #standBy(body: Body): void {
    this.#standby ??= this.#finishWhenPossible(body).then(() => void (this.#standby = undefined));
  }

  /** Finishes the run of another instance, when the servers can be reached. Never rejects. */
  async #finishWhenPossible(body: Body): Promise<void> {
    const { stopping } = this.#context;
    const pauses = backoff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
    while ((await this.#finishInTurn(body, Infinity)) === 'unavailable' && !stopping.aborted) {
      await pause(pauses.next(), stopping).catch(() => {});
    }
  }

  /**
   * Finishes the run of another instance. `'acquired'`: the lock was granted, so no other process runs the job. No caller
   * waits for this run: its errors are logged, as a scheduler would log them. Never rejects.
   */
  async #finishInTurn(body: Body, waitMs: number): Promise<Finishing> {
    const { name, options } = this.#job;
    const asking = { waitMs, signal: this.#context.stopping, label: name, onLost: options.onLost };
    return this.#attempting(body, async (attempt) => {
      try {
        await attempt.lock.using((lease) => this.#finish(lease, attempt), asking);
        return 'acquired';
      } catch (error) {
        if (attempt.hasBegun) logger.error(error);
        else logger.debug(`${name}: does not finish another's run (${String(error)})`);
        if (attempt.hasBegun) return 'acquired';
        return isUnavailable(error) ? 'unavailable' : 'not granted';
      }
    });
  }

  /**
   * Finishes the unfinished run. No other run continues under the lock, so an unfinished run can only be finished here.
   */
  async #finish(lease: Lease, attempt: Attempt): Promise<void> {
    for (;;) {
      this.#context.stopping.throwIfAborted();
      const seen = await this.#context.markers.read(this.#job.key);
      if (!seen.marker || !isToRunAgain(seen.marker, this.#job)) return;
      if (await attempt.run(lease, seen, seen.marker.tick, seen.marker.attempt + 1)) return;
    }
  }
}

/** Whether the error is that of servers that could not be reached, or of a session that ended. */
function isUnavailable(error: unknown): error is LockUnavailableError | LockLostError {
  return error instanceof LockUnavailableError || error instanceof LockLostError;
}
