import { Logger } from '@nestjs/common';
import { orAbort, withAnyAbort } from '../async/abort.js';
import { backoff, pause } from '../async/timer.js';
import { now } from '../async/clock.js';
import { LockTimeoutError } from '../contract/errors.js';
import type { Lease } from '../contract/lease.js';
import type { Attempt, Ran } from './attempt.js';
import type { JobContext } from './job-context.js';
import type { SkipReason } from '../contract/job-event.js';
import type { Marker, Firing } from './marker.js';
import type { Marked } from './markers.js';
import { tickStatusOf } from './marker.js';
import { RareLines } from '../service/rare-lines.js';

/** A firing that does not run the method here and now. */
export interface Skip {
  readonly skipped: SkipReason;
  /**
   * Whether an earlier run must be finished first. An instance should then wait to finish it, in case its runner dies.
   */
  readonly isUnfinished?: boolean;
  readonly error?: Error;
}

const FIRST_PAUSE_MS = 10;
const PAUSE_CAP_MS = 250;
// A holder that has been seen running an earlier tick for this long has neither just ended nor only checked the marker.
const SETTLED_MS = 250;
// Longer than the session of a process that died between acquiring the lock and writing the marker.
const PATIENCE_MS = 30_000;
// The difference between two clocks above which a warning is logged.
const FAR_AHEAD_MS = 60_000;

const logger = new Logger('CronLock');
const clocks = new RareLines();

/**
 * One firing on its way to its run, or to the reason why there is none.
 *
 * The marker is read before the lock is tried, so a firing that is late for a tick does not touch the lock. A lock that
 * is not free proves nothing by itself. Its holder may be about to find that its own tick is an old one. That must not
 * cost another instance the tick that is due. So both are asked again until one of these is true:
 * - the tick is taken;
 * - an earlier run is seen to continue;
 * - this process has acquired the lock.
 *
 * The marker guarantees that a tick has only one run. It is written under the lock, and only over the marker that was
 * read.
 */
export class Claim {
  readonly #firing: Firing;
  readonly #attempt: Attempt;
  readonly #context: JobContext;
  readonly #superseded: AbortSignal;
  readonly #since = now();
  /** The latest run when this firing first read the marker; `undefined` before that. */
  #first: { readonly runId: string | undefined } | undefined;
  #running: { readonly runId: string; readonly since: number } | undefined;

  /**
   * @param superseded aborts when the next firing has begun: this one finishes its current check and makes no further
   *   one
   */
  constructor(firing: Firing, attempt: Attempt, context: JobContext, superseded: AbortSignal) {
    this.#firing = firing;
    this.#attempt = attempt;
    this.#context = context;
    this.#superseded = superseded;
  }

  /**
   * Returns the outcome.
   * @throws the reason of either signal, what the lock and the records throw, and the method's own error
   */
  async decide(): Promise<Ran | Skip> {
    const pauses = backoff(FIRST_PAUSE_MS, PAUSE_CAP_MS);
    for (;;) {
      const seen = await orAbort(this.#context.markers.read(this.#firing.job.key), this.#context.stopping);
      const outcome = this.#readOff(seen.marker) ?? (await this.#tryLock(seen)) ?? this.#settled(seen.marker);
      if (outcome) return outcome;
      await this.#pause(pauses.next());
    }
  }

  /**
   * Waits before the next check. A firing is superseded only here: otherwise none would ever run where replies take
   * longer than the time between two firings.
   */
  async #pause(ms: number): Promise<void> {
    await withAnyAbort([this.#superseded, this.#context.stopping], (signal) => pause(ms, signal));
  }

  /** The decision that follows from the marker alone. */
  #readOff(marker: Marker | undefined): Skip | undefined {
    this.#first ??= { runId: marker?.runId };
    const status = tickStatusOf(marker, this.#firing);
    const isOwnTick = marker?.tick !== undefined && marker.tick === this.#firing.tick;
    if (status === 'unfinished') return { skipped: isOwnTick ? 'taken' : 'overrun', isUnfinished: true };
    if (status === 'taken') return this.#taken(marker);
    // Without ticks, a run that began since this firing counts for this firing as well.
    const isAnothers = this.#firing.tick === undefined && marker?.runId !== this.#first.runId;
    return isAnothers ? { skipped: 'taken' } : undefined;
  }

  #taken(marker: Marker | undefined): Skip {
    const aheadMs = (marker?.tick ?? 0) - this.#firing.now;
    if (aheadMs > FAR_AHEAD_MS) {
      const { host } = marker?.runner ?? {};
      const { name } = this.#firing.job;
      const line = `${name}: ${host} has run a tick ${aheadMs} ms ahead of this clock: one is wrong`;
      clocks.tell(name, line, (message) => logger.warn(message));
    }
    return { skipped: 'taken' };
  }

  /** Runs the method under the lock. `undefined` when the lock is held, or another instance was faster. */
  async #tryLock(seen: Marked): Promise<Ran | Skip | undefined> {
    const { name, options } = this.#firing.job;
    const asking = { waitMs: 0, signal: this.#context.stopping, label: name, onLost: options.onLost };
    try {
      return await this.#attempt.lock.using((lease) => this.#under(lease, seen), asking);
    } catch (error) {
      if (!this.#attempt.hasBegun && error instanceof LockTimeoutError) return undefined;
      throw error;
    }
  }

  async #under(lease: Lease, seen: Marked): Promise<Ran | Skip | undefined> {
    this.#context.stopping.throwIfAborted();
    const latest = await this.#afterInterval(seen);
    if (!latest || 'skipped' in latest) return latest;
    return this.#attempt.run(lease, latest, this.#firing.tick, 1);
  }

  /**
   * Returns the marker once enough time has passed since the previous run began. The servers' current time is found by
   * writing the same marker again.
   */
  async #afterInterval(seen: Marked): Promise<Marked | Skip | undefined> {
    const { atLeastMs } = this.#firing.job;
    const { startedAt } = seen.marker ?? {};
    if (atLeastMs === 0 || !seen.marker || startedAt === undefined) return seen;
    const rewritten = await this.#context.markers.write(seen.marker, seen);
    const isEarly = rewritten && rewritten.writtenAt - startedAt < atLeastMs;
    return isEarly ? { skipped: 'early' } : rewritten;
  }

  /** The reason for a skip, once the lock has been unavailable for long enough. */
  #settled(marker: Marker | undefined): Skip | undefined {
    const runId = marker?.state === 'running' ? marker.runId : undefined;
    if (runId !== this.#running?.runId) this.#running = runId === undefined ? undefined : { runId, since: now() };
    if (this.#running && now() - this.#running.since >= SETTLED_MS) return { skipped: 'overrun' };
    return now() - this.#since >= PATIENCE_MS ? { skipped: 'contended' } : undefined;
  }
}
