/**
 * The reason why a call did not run the method.
 * - `taken`: another run has this tick, or a later one.
 * - `overrun`: the run of an earlier tick still continues.
 * - `early`: less than `atLeastMs` after the last run, or before the first tick.
 * - `contended`: the lock was never free, and no run was seen under it.
 * - `superseded`: the next tick came before this one was decided.
 * - `unavailable`: the servers could not be asked.
 * - `shutdown`: the application is shutting down.
 */
export type SkipReason = 'taken' | 'overrun' | 'early' | 'contended' | 'superseded' | 'unavailable' | 'shutdown';

/** A call that did not run the method. */
export interface SkippedEvent {
  /** The kind of the event. */
  readonly type: 'skipped';
  /** The job's name, see `JobRun.name`. */
  readonly name: string;
  /** The job's key, without its service. */
  readonly key: string;
  /** The nominal tick of the call; `undefined` where there are no ticks. */
  readonly tick: Date | undefined;
  /** The reason why the method did not run. */
  readonly reason: SkipReason;
  /** The error, with reason `unavailable`. */
  readonly error: Error | undefined;
}

/**
 * An event of the jobs of this process.
 * - `skipped`: a call did not run the method.
 * - `started`, `finished`: a run began here, or has ended, see its `state`.
 * - `overdue`: a run here takes longer than `atMostMs`; its signal has aborted.
 * - `crashed`: a run, mostly of another process, was found unfinished with its lock no longer held.
 */
export type JobEvent =
  | SkippedEvent
  | {
      /** The kind of the event. */
      readonly type: 'started' | 'finished' | 'overdue' | 'crashed';
      /** The run that the event is about. */
      readonly run: JobRun;
    };

/**
 * The progress of a run.
 * - `running`: it has begun, and its lock is held.
 * - `done`, `failed`: it has ended; `failed` with the method's own error.
 * - `lost`: its lease was lost before it ended, so another run may have overlapped with it.
 * - `crashed`: it has begun, and its lock is no longer held: its instance died, or was stopped before the run was done.
 */
export type JobRunState = 'running' | 'done' | 'failed' | 'lost' | 'crashed';

/** The process that runs a job. */
export interface Runner {
  /** The host name of the process. */
  readonly host: string;
  /** The id of the process. */
  readonly pid: number;
}

/** One run of a job, as every instance can read it. */
export interface JobRun {
  /** The job's name: the one given in `@Cron`, `@Interval` or `@Timeout`, else `Class.method`. */
  readonly name: string;
  /** The job's key, without its service. */
  readonly key: string;
  /** The nominal tick of this run, whatever the clocks showed; `undefined` where there are no ticks. */
  readonly tick: Date | undefined;
  /** The progress of the run. */
  readonly state: JobRunState;
  /** The process that runs it, or has run it. */
  readonly runner: Runner;
  /** A unique id of each run, repeated ones included. */
  readonly runId: string;
  /** The number of the attempt: 1, or more when the tick is run again after a crash. */
  readonly attempt: number;
  /** The time when it began, on the servers' clock. */
  readonly startedAt: Date;
  /** The duration in milliseconds, on the runner's monotonic clock; `undefined` until the run has ended. */
  readonly durationMs: number | undefined;
  /** The error that it failed with, as text. */
  readonly error: string | undefined;
}
