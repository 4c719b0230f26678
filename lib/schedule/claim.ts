import { Logger } from '@nestjs/common';
import { anyAbort, orAbort } from '../async/abort.js';
import { backoff, pause } from '../async/timer.js';
import { now } from '../async/clock.js';
import { LockTimeoutError } from '../contract/errors.js';
import type { Lease } from '../contract/lease.js';
import type { Attempt, Ran } from './attempt.js';
import type { JobContext } from './crew.js';
import type { SkipReason } from './job-event.js';
import type { Marker, Firing } from './marker.js';
import type { Marked } from './markers.js';
import { verdictOn } from './marker.js';

/** A firing that does not run the method here and now. */
export interface Skip {
  readonly skipped: SkipReason;
  /** An earlier run must be finished first: somebody should see to it that it is, should its runner die. */
  readonly isUnfinished?: boolean;
  readonly error?: Error;
}

const FIRST_PAUSE_MS = 10;
const PAUSE_CAP_MS = 250;
// A holder that is seen to run an earlier tick for so long is not one that has just ended, or that looks and goes.
const SETTLED_MS = 250;
// Longer than the session of somebody who died between getting the lock and saying what for.
const PATIENCE_MS = 30_000;
// Two clocks that are further apart than this are worth a warning.
const FAR_AHEAD_MS = 60_000;

const logger = new Logger('CronLock');

/**
 * One firing's way to its run, or to the reason why there is none.
 *
 * The marker is looked at before the lock, so who comes late for a tick leaves the lock alone. When the lock is not
 * free, that alone proves nothing: whoever has it may be about to find that its own tick is an old one, and must not
 * cost another instance the tick that is due. So both are asked again, until the tick is taken, an earlier run is seen
 * to go on, or the lock is ours. What makes a run the only one of its tick is the marker, written under the lock and
 * only over the one that was seen.
 */
export class Claim {
  readonly #firing: Firing;
  readonly #attempt: Attempt;
  readonly #crew: JobContext;
  readonly #superseded: AbortSignal;
  readonly #since = now();
  /** The latest run when this firing looked first; `undefined` until it has. */
  #first: { readonly runId: string | undefined } | undefined;
  #running: { readonly runId: string; readonly since: number } | undefined;

  /** @param superseded aborts when the next firing has come: this one looks to its end, and not once more */
  constructor(firing: Firing, attempt: Attempt, crew: JobContext, superseded: AbortSignal) {
    this.#firing = firing;
    this.#attempt = attempt;
    this.#crew = crew;
    this.#superseded = superseded;
  }

  /** @throws the reason of either signal, what the lock and the records throw, and the method's own error */
  async decide(): Promise<Ran | Skip> {
    const pauses = backoff(FIRST_PAUSE_MS, PAUSE_CAP_MS);
    for (;;) {
      const seen = await orAbort(this.#crew.markers.read(this.#firing.job.key), this.#crew.stopping);
      const outcome = this.#readOff(seen.marker) ?? (await this.#tryLock(seen)) ?? this.#settled(seen.marker);
      if (outcome) return outcome;
      await this.#pause(pauses.next());
    }
  }

  /** Only here a firing gives way to the next: were it sooner, none would ever run where answers take longer than that. */
  async #pause(ms: number): Promise<void> {
    const limits = anyAbort([this.#superseded, this.#crew.stopping]);
    await pause(ms, limits.signal).finally(limits.dispose);
  }

  /** What the marker alone decides. */
  #readOff(marker: Marker | undefined): Skip | undefined {
    this.#first ??= { runId: marker?.runId };
    const verdict = verdictOn(marker, this.#firing);
    const isOwnTick = marker?.tick !== undefined && marker.tick === this.#firing.tick;
    if (verdict === 'unfinished') return { skipped: isOwnTick ? 'taken' : 'overrun', isUnfinished: true };
    if (verdict === 'taken') return this.#taken(marker);
    // Without ticks, whoever began since this firing did it for this firing as well.
    const isAnothers = this.#firing.tick === undefined && marker?.runId !== this.#first.runId;
    return isAnothers ? { skipped: 'taken' } : undefined;
  }

  #taken(marker: Marker | undefined): Skip {
    const aheadMs = (marker?.tick ?? 0) - this.#firing.now;
    if (aheadMs > FAR_AHEAD_MS) {
      const { host } = marker?.runner ?? {};
      logger.warn(`${this.#firing.job.name}: ${host} has run a tick ${aheadMs} ms ahead of this clock: one is wrong`);
    }
    return { skipped: 'taken' };
  }

  /** `undefined` when somebody has the lock, or was faster. */
  async #tryLock(seen: Marked): Promise<Ran | Skip | undefined> {
    const { name, options } = this.#firing.job;
    const asking = { waitMs: 0, signal: this.#crew.stopping, label: name, onLost: options.onLost };
    try {
      return await this.#attempt.lock.using((lease) => this.#under(lease, seen), asking);
    } catch (error) {
      if (!this.#attempt.hasBegun && error instanceof LockTimeoutError) return undefined;
      throw error;
    }
  }

  async #under(lease: Lease, seen: Marked): Promise<Ran | Skip | undefined> {
    this.#crew.stopping.throwIfAborted();
    const latest = await this.#afterInterval(seen);
    if (!latest || 'skipped' in latest) return latest;
    return this.#attempt.run(lease, latest, this.#firing.tick, 1);
  }

  /**
   * The marker, once enough time has passed since the run before began. What time it is the servers say when the same
   * is written again.
   */
  async #afterInterval(seen: Marked): Promise<Marked | Skip | undefined> {
    const { atLeastMs } = this.#firing.job;
    const { startedAt } = seen.marker ?? {};
    if (atLeastMs === 0 || !seen.marker || startedAt === undefined) return seen;
    const rewritten = await this.#crew.markers.write(seen.marker, seen);
    const isEarly = rewritten && rewritten.writtenAt - startedAt < atLeastMs;
    return isEarly ? { skipped: 'early' } : rewritten;
  }

  /** What it means that the lock could not be had, once it has been so for long enough. */
  #settled(marker: Marker | undefined): Skip | undefined {
    const runId = marker?.state === 'running' ? marker.runId : undefined;
    if (runId !== this.#running?.runId) this.#running = runId === undefined ? undefined : { runId, since: now() };
    if (this.#running && now() - this.#running.since >= SETTLED_MS) return { skipped: 'overrun' };
    return now() - this.#since >= PATIENCE_MS ? { skipped: 'contended' } : undefined;
  }
}
