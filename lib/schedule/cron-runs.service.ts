import type { Observable } from 'rxjs';
import { NEVER } from '../async/abort.js';
import { LockReentrancyError, LockShutdownError } from '../contract/errors.js';
import type { Lease } from '../contract/lease.js';
import { connectionToken, DEFAULT_CONNECTION } from '../service/connection-token.js';
import type { LockConnection } from '../service/lock-connection.js';
import { connectionOf } from '../service/lock.service.js';
import type { LockService } from '../service/lock.service.js';
import { isAbsolute } from '../service/service-names.js';
import { GuardedJobs } from './guarded-jobs.js';
import type { JobEvent, JobRun } from '../contract/job-event.js';
import { runOf } from './marker.js';
import type { Marker } from './marker.js';
import { Markers } from './markers.js';
import { defaultKey } from './scheduled-job.js';
import type { TickSource } from './scheduler.js';

/** The latest run of a job, and whether it is going on. */
export interface PeekedRun extends JobRun {
  /** Whether it is recorded as running, and the lock of the job is held. */
  readonly isRunning: boolean;
}

/**
 * The runs of the jobs with `@CronLock` of one service, on one connection. The latest run of each job is kept,
 * whichever instance ran it. It is stored beside the locks, so it outlives sessions and restarts.
 */
export class CronRunsService {
  /**
   * The events of the jobs of this process, as they happen. Completes when the application has shut down. An error that
   * a subscriber throws is raised in a context of its own, not in the job's.
   */
  readonly events: Observable<JobEvent>;
  // No #private members here: Nest may be configured to wrap its providers in a Proxy, which has none.
  private readonly jobs: GuardedJobs;
  private readonly markers: Markers;
  private readonly connection: LockConnection;

  /** @internal */
  constructor(
    locks: LockService,
    ticks: TickSource,
    /** This process's wall clock, in milliseconds since 1970: the one that cron fires by. */
    wallNow: () => number = () => Date.now(),
  ) {
    this.jobs = new GuardedJobs(locks, ticks, wallNow);
    this.connection = connectionOf(locks);
    this.markers = new Markers(this.connection);
    this.events = this.jobs.events.asObservable();
  }

  /**
   * Returns the latest run of the job of this name, or key; `undefined` when there has been none. A job whose key is a
   * path is found by that path alone. Asks the servers. A run whose lock is not seen to be held is `crashed`. To check
   * that, the lock is acquired and released.
   * @throws LockUnavailableError; LockConfigurationError when no service is set
   */
  async last(name: string): Promise<JobRun | undefined> {
    const { marker } = await this.markers.read(isAbsolute(name) ? name : defaultKey(name));
    if (marker) return this.latest(marker);
    if (isAbsolute(name)) return undefined;
    // A job whose key is a path may belong to another service, and is meant only where the path is given.
    return (await this.list()).find((run) => !isAbsolute(run.key) && (run.name === name || run.key === name));
  }

  /**
   * Returns the latest runs as they are recorded, sorted by name, and whether each is going on. Unlike `list`, it
   * acquires no lock, so it never is in the way of a tick: a page may ask for it every second. A run that is recorded as
   * running and whose lock nobody holds is `crashed`, or ends at this moment.
   * @throws LockUnavailableError; LockConfigurationError when no service is set
   */
  async peek(): Promise<readonly PeekedRun[]> {
    const markers = await this.markers.readAll();
    const runs = await Promise.all(markers.map((marker) => this.peekAt(marker)));
    return runs.toSorted((one, other) => one.name.localeCompare(other.name));
  }

  /**
   * Returns the latest runs, sorted by name. They are those of every job of the service that ever ran, and of the jobs
   * whose key is a path, which all services share. In all else like `last`.
   */
  async list(): Promise<readonly JobRun[]> {
    const markers = await this.markers.readAll();
    const runs = await Promise.all(markers.map((marker) => this.latest(marker)));
    return runs.toSorted((one, other) => one.name.localeCompare(other.name));
  }

  /**
   * Deletes the record of a job's latest run: the next firing runs, whatever its tick. For jobs that no longer exist,
   * and for ticks that an instance with a wrong clock has run ahead of time.
   * @returns whether there was a record
   * @throws as `last`
   */
  async forget(name: string): Promise<boolean> {
    const run = await this.last(name);
    return run !== undefined && this.markers.remove(run.key);
  }

  /** @internal Called when the shutdown begins: no further run begins. */
  onModuleDestroy(): void {
    this.jobs.stop();
  }

  /** @internal Does not wait: `LockService` decides how long runs may take. */
  onApplicationShutdown(): void {
    void this.jobs.complete();
  }

  /** Returns the marker's run, after looking whether its lock is held. */
  private async peekAt(marker: Marker): Promise<PeekedRun> {
    if (marker.state !== 'running') return { ...runOf(marker), isRunning: false };
    if (await this.isLocked(marker.key)) return { ...runOf(marker), isRunning: true };
    // A run records its end before it releases the lock. The lock of the next run may have been taken since.
    const { marker: now = marker } = await this.markers.read(marker.key);
    const isSame = now.state === 'running' && now.runId === marker.runId;
    return { ...runOf(now, isSame ? 'crashed' : now.state), isRunning: !isSame && now.state === 'running' };
  }

  private async isLocked(key: string): Promise<boolean> {
    const { backend, names } = this.connection;
    const at = names.lockKeyOf({ kind: 'job', name: key });
    if (backend.holdersOf) return (await backend.holdersOf({ key: at, of: 'key', most: 1, signal: NEVER })).length > 0;
    return (await backend.lineOf(at)).some(({ state }) => state === 'held');
  }

  /** Returns the marker's run, after checking that one recorded as running still is. */
  private async latest(marker: Marker): Promise<JobRun> {
    const lease = marker.state === 'running' ? await this.lockOf(marker) : null;
    if (!lease) return runOf(marker);
    try {
      const { marker: now = marker } = await this.markers.read(marker.key);
      return runOf(now, now.state === 'running' ? 'crashed' : now.state);
    } finally {
      await lease.release();
    }
  }

  /** Acquires the job's lock. `null` when a run has it, even the caller's own, or when locks are no longer granted. */
  private async lockOf({ key }: Marker): Promise<Lease | null> {
    try {
      return await this.connection.jobLock(key, 'none').tryAcquire({ label: 'CronRunsService' });
    } catch (error) {
      if (error instanceof LockReentrancyError || error instanceof LockShutdownError) return null;
      throw error;
    }
  }
}

/**
 * The injection token of the `CronRunsService` of a connection. For the default connection it is the class itself. For
 * the others it is a symbol that is the same for the same name.
 */
export function getCronRunsToken(name: string = DEFAULT_CONNECTION): typeof CronRunsService | symbol {
  return name === DEFAULT_CONNECTION ? CronRunsService : connectionToken('CronRunsService', name);
}
