import type { JobRun } from './job-run.js';

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
