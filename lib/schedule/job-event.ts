/**
 * Why a call did not run the method.
 * - `taken`: this tick, or a later one, is another's.
 * - `overrun`: the run of an earlier tick is still going on.
 * - `early`: less than `atLeastMs` after the last run, or before the first tick.
 * - `contended`: the lock was never free, and nobody was seen to run under it.
 * - `superseded`: the next tick came before this one was decided.
 * - `unavailable`: the servers could not be asked.
 * - `shutdown`: the application is shutting down.
 */
export type SkipReason = 'taken' | 'overrun' | 'early' | 'contended' | 'superseded' | 'unavailable' | 'shutdown';

/** A call that did not run the method. */
export interface SkippedEvent {
  readonly type: 'skipped';
  readonly name: string;
  readonly key: string;
  readonly tick: Date | undefined;
  readonly reason: SkipReason;
  readonly error: Error | undefined;
}

/**
 * What happens to the jobs of this process.
 * - `skipped`: a call did not run the method.
 * - `started`, `finished`: a run began here; it ended, see its `state`.
 * - `overdue`: a run here takes longer than `atMostMs`; its signal has aborted.
 * - `crashed`: a run, of another process mostly, was found to have ended with nobody holding its lock.
 */
export type JobEvent =
  SkippedEvent | { readonly type: 'started' | 'finished' | 'overdue' | 'crashed'; readonly run: JobRun };

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
