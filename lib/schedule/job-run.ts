/**
 * How far a run has come.
 * - `running`: begun, and its lock is held.
 * - `done`, `failed`: it has ended; `failed` with the method's own error.
 * - `lost`: its lease was lost before it ended, so another run may have overlapped with it.
 * - `crashed`: begun, and nobody holds its lock any more: its instance died, or was stopped before it was done.
 */
export type JobRunState = 'running' | 'done' | 'failed' | 'lost' | 'crashed';

/** The process that runs a job. */
export interface Runner {
  readonly host: string;
  readonly pid: number;
}

/** One run of a job, as every instance can read it. */
export interface JobRun {
  /** The job's name: the one given in `@Cron`, `@Interval` or `@Timeout`, else `Class.method`. */
  readonly name: string;
  /** The job's key, without its service. */
  readonly key: string;
  /** The nominal tick that it is the run of, whatever the clocks said; `undefined` where there are no ticks. */
  readonly tick: Date | undefined;
  readonly state: JobRunState;
  readonly runner: Runner;
  /** One for each run, repeated ones included. */
  readonly runId: string;
  /** 1, or more when the tick is run again after a crash. */
  readonly attempt: number;
  /** When it began, on the servers' clock. */
  readonly startedAt: Date;
  /** How long it took, in milliseconds on its own monotonic clock; `undefined` until it has ended. */
  readonly durationMs: number | undefined;
  /** What it failed with, as text. */
  readonly error: string | undefined;
}
