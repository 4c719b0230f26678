import { Logger } from '@nestjs/common';
import { Subject } from 'rxjs';
import { channels } from '../contract/channels.js';
import { connectionOf } from '../service/lock.service.js';
import type { LockService } from '../service/lock.service.js';
import { RareLines } from '../service/rare-lines.js';
import { lockOf } from './attempt.js';
import type { JobContext } from './job-context.js';
import { ClaimEndedError, GuardedJob } from './guarded-job.js';
import type { JobEvent, JobRun, SkippedEvent } from '../contract/job-event.js';
import { Markers } from './markers.js';
import type { Body } from './perform-run.js';
import type { ScheduledJob } from './scheduled-job.js';
import type { TickSource } from './scheduler.js';

// Nest injects the LockService into a decorated class; the jobs of the same connection are found through it.
const jobsByLocks = new WeakMap<LockService, GuardedJobs>();

/** Returns the jobs of a connection, or `undefined` for a `LockService` that `LockModule` did not make. */
export function guardedJobsOf(locks: LockService): GuardedJobs | undefined {
  return jobsByLocks.get(locks);
}

/** All jobs of one connection in this process. */
export class GuardedJobs {
  readonly events = new Subject<JobEvent>();
  readonly #context: JobContext;
  readonly #jobs = new Map<string, GuardedJob>();
  readonly #stopping = new AbortController();
  readonly #firings = new Set<Promise<unknown>>();

  constructor(locks: LockService, ticks: TickSource, wallNow: () => number) {
    const connection = connectionOf(locks);
    const emit = (event: JobEvent) => {
      logJobEvent(event);
      this.events.next(event);
      if (!channels.cron.hasSubscribers) return;
      const { origin } = connection;
      channels.cron.publish({ connection: origin.connection, origin, event });
    };
    this.#context = {
      connection,
      ticks,
      wallNow,
      emit,
      markers: new Markers(connection),
      stopping: this.#stopping.signal,
    };
    jobsByLocks.set(locks, this);
  }

  /** @throws LockConfigurationError for a key that is not valid, and when it needs a service and none is set */
  check(job: ScheduledJob): void {
    lockOf(job, this.#context.connection);
    this.#context.markers.check(job.key);
  }

  /**
   * Runs one firing of the job.
   * @throws the method's own error, LockLostError, LockUnavailableError, LockConfigurationError
   */
  fire(job: ScheduledJob, body: Body): Promise<unknown> {
    return this.#tracked(this.#guarded(job).fire(body));
  }

  /** Checks whether a run of the job must be finished here, and ensures that it is. Never rejects. */
  resume(job: ScheduledJob, body: Body): Promise<void> {
    return this.#guarded(job).resume(body);
  }

  /** Prevents further runs from beginning. Runs that have begun continue. */
  stop(): void {
    this.#stopping.abort(new ClaimEndedError('shutdown'));
  }

  /** Completes the events when the last run has ended. Never rejects. */
  async complete(): Promise<void> {
    await Promise.allSettled([...this.#firings, ...[...this.#jobs.values()].map((job) => job.standby)]);
    this.events.complete();
  }

  #tracked<T>(firing: Promise<T>): Promise<T> {
    this.#firings.add(firing);
    const forget = () => this.#firings.delete(firing);
    firing.then(forget, forget);
    return firing;
  }

  #guarded(job: ScheduledJob): GuardedJob {
    const guarded = this.#jobs.get(job.key) ?? new GuardedJob(job, this.#context);
    this.#jobs.set(job.key, guarded);
    return guarded;
  }
}

const logger = new Logger('CronLock');
const skips = new RareLines();

/**
 * Logs events that are reported nowhere else: skipped calls, once a minute for each job and reason, and those that need
 * attention. Runs themselves are not logged.
 */
function logJobEvent(event: JobEvent): void {
  switch (event.type) {
    case 'skipped':
      return logSkipped(event);
    case 'overdue':
      return logger.error(`${titleOf(event.run)} takes longer than its atMostMs and was told to stop`);
    case 'crashed':
      return logger.warn(`${titleOf(event.run)} was not finished by process ${runnerOf(event.run)}`);
    case 'started':
    case 'finished':
      return;
  }
}

function logSkipped({ name, tick, reason, error }: SkippedEvent): void {
  const message = `${titleOf({ name, tick })} was skipped: ${error ? error.message : reason}`;
  const level = reason === 'unavailable' ? 'warn' : 'debug';
  skips.tell(`${reason} ${name}`, message, (line) => logger[level](line));
}

function titleOf({ name, tick }: Pick<JobRun, 'name' | 'tick'>): string {
  return tick ? `${name} of ${tick.toISOString()}` : name;
}

function runnerOf({ runner }: JobRun): string {
  return `${runner.pid} on ${runner.host}`;
}
