import type { LockConnection } from '../service/lock-connection.js';
import type { JobEvent } from '../contract/job-event.js';
import type { Markers } from './markers.js';
import type { TickSource } from './scheduler.js';

/** The objects that all jobs of a connection share. */
export interface JobContext {
  readonly connection: LockConnection;
  readonly markers: Markers;
  readonly ticks: TickSource;
  /** This process's wall clock, in milliseconds since 1970: the one that cron fires by. */
  readonly wallNow: () => number;
  /** Aborts when no run may begin any more. */
  readonly stopping: AbortSignal;
  readonly emit: (event: JobEvent) => void;
}
