import type { Observable } from 'rxjs';
import { LockReentrancyError, LockShutdownError } from '../contract/errors.js';
import type { Lease } from '../contract/lease.js';
import { connectionToken, DEFAULT_CONNECTION } from '../service/connection-token.js';
import type { LockService } from '../service/lock.service.js';
import { isAbsolute } from '../service/service-names.js';
import { GuardedJobs } from './guarded-jobs.js';
import type { JobEvent, JobRun } from './job-event.js';
import { runOf } from './marker.js';
import type { Marker } from './marker.js';
import { Markers } from './markers.js';
import { defaultKey } from './scheduled-job.js';
import type { TickSource } from './scheduler.js';

/**
 * The runs of the jobs with `@CronLock` of one service, on one connection: the latest one of each, whichever instance
 * ran it. Kept beside the locks, so it outlives sessions and restarts.
 */
export class CronRunsService {
  /**
   * What happens to the jobs of this process, as it happens. Ends when the application has shut down. A subscriber that
   * throws does so in a context of its own, and not in the job's.
   */
  readonly events: Observable<JobEvent>;
  // No #private members here: Nest may be told to put its providers behind a Proxy, which has none.
  private readonly jobs: GuardedJobs;
  private readonly markers: Markers;

  /** @internal */
  constructor(
    private readonly locks: LockService,
    ticks: TickSource,
    /** This process's wall clock, in milliseconds since 1970: the one that cron fires by. */
    wallNow: () => number = () => Date.now(),
  ) {
    this.jobs = new GuardedJobs(locks, ticks, wallNow);
    this.markers = new Markers(locks.records, locks.names);
    this.events = this.jobs.events.asObservable();
  }

  /**
   * The latest run of the job of this name, or key; `undefined` when there has been none. A job whose key is a path goes
   * by that path alone. Asks the servers. A run that
   * nobody is seen to hold the lock of is `crashed`; looking takes and gives back that lock.
   * @throws LockUnavailableError; LockConfigurationError when no service is set
   */
  async last(name: string): Promise<JobRun | undefined> {
    const { marker } = await this.markers.read(isAbsolute(name) ? name : defaultKey(name));
    if (marker) return this.latest(marker);
    if (isAbsolute(name)) return undefined;
    // A job whose key is a path may be another service's, and is meant only where the path is given.
    return (await this.list()).find((run) => !isAbsolute(run.key) && (run.name === name || run.key === name));
  }

  /**
   * The latest run of every job of the service that ever ran, and of those whose key is a path, which all services share;
   * by name. In all else like `last`.
   */
  async list(): Promise<readonly JobRun[]> {
    const markers = await this.markers.readAll();
    const runs = await Promise.all(markers.map((marker) => this.latest(marker)));
    return runs.toSorted((one, other) => one.name.localeCompare(other.name));
  }

  /**
   * Forgets the latest run of a job: the next firing runs, whatever its tick. For jobs that are no more, and for ticks
   * that an instance with a wrong clock has run ahead of time.
   * @returns whether there was something to forget
   * @throws as `last`
   */
  async forget(name: string): Promise<boolean> {
    const run = await this.last(name);
    return run !== undefined && this.markers.remove(run.key);
  }

  /** @internal No run begins once the shutdown has. */
  onModuleDestroy(): void {
    this.jobs.stop();
  }

  /** @internal Waits for nobody: how long runs may take, `LockService` knows. */
  onApplicationShutdown(): void {
    void this.jobs.complete();
  }

  /** What the marker says, and whether that is still so. */
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

  /** `null` when somebody runs, be it the caller, or when locks are not given any more. */
  private async lockOf({ key }: Marker): Promise<Lease | null> {
    try {
      return await this.locks.jobLock(key, 'none').tryAcquire({ label: 'CronRunsService' });
    } catch (error) {
      if (error instanceof LockReentrancyError || error instanceof LockShutdownError) return null;
      throw error;
    }
  }
}

/**
 * The injection token of the `CronRunsService` of a connection: the class itself for the default one, a symbol that is
 * the same for the same name for the others.
 */
export function getCronRunsToken(name: string = DEFAULT_CONNECTION): typeof CronRunsService | symbol {
  return name === DEFAULT_CONNECTION ? CronRunsService : connectionToken('CronRunsService', name);
}
