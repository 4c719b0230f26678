import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { Logger } from '@nestjs/common';
import { anyAbort, NEVER } from '../async/abort.js';
import type { Dispose } from '../async/abort.js';
import { now } from '../async/clock.js';
import { after, backoff, pause } from '../async/timer.js';
import { describe } from '../contract/check.js';
import { LockOverdueError, LockUnavailableError } from '../contract/errors.js';
import type { Lease, LeaseState } from '../contract/lease.js';
import { runUnder } from '../service/held-leases.js';
import { EnteredLease } from '../service/hold-scope.js';
import type { JobContext } from './job-context.js';
import { runAs } from './current-run.js';
import { runOf } from './marker.js';
import type { Marker } from './marker.js';
import type { Marked } from './markers.js';
import type { ScheduledJob } from './scheduled-job.js';

/** Runs the method. */
export type Body = () => unknown;

/** A run that has been recorded as this process's own. */
interface Claimed extends Marked {
  readonly marker: Marker;
}

type Ending =
  { readonly state: 'done'; readonly result: unknown } | { readonly state: 'failed'; readonly error: unknown };

const RETRY_FIRST_MS = 20;
const RETRY_CAP_MS = 1_000;

const logger = new Logger('CronLock');

/** The marker that is written before a run begins. */
export function newMarker(job: ScheduledJob, tick: number | undefined, attempt: number): Marker {
  const { name, key } = job;
  const runner = { host: hostname(), pid: process.pid };
  return { name, key, tick, state: 'running', runner, runId: randomUUID(), attempt, startedAt: undefined };
}

/**
 * Returns the method's result, or throws its error. In both cases the end of the run has been recorded before, if
 * possible.
 */
export async function performRun(
  lease: Lease,
  claimed: Claimed,
  job: ScheduledJob,
  context: JobContext,
  body: Body,
): Promise<unknown> {
  const run = runOf(claimed.marker);
  const limited = new LimitedLease(lease, job.options.atMostMs, () => context.emit({ type: 'overdue', run }));
  context.emit({ type: 'started', run });
  const begun = now();
  const ending = await endingOf(() => runAs(run, () => runUnder(limited, body)));
  limited.dispose();
  const marker = endedMarker(claimed.marker, ending, lease, now() - begun);
  await writeDown(marker, claimed, lease, context);
  context.emit({ type: 'finished', run: runOf(marker) });
  if (ending.state === 'failed') throw ending.error;
  return ending.result;
}

async function endingOf(work: () => Promise<unknown>): Promise<Ending> {
  try {
    return { state: 'done', result: await work() };
  } catch (error) {
    return { state: 'failed', error };
  }
}

function endedMarker(marker: Marker, ending: Ending, lease: Lease, durationMs: number): Marker {
  const isLost = !lease.isHeld() && lease.state === 'lost';
  const error = ending.state === 'failed' ? textOf(ending.error) : undefined;
  return { ...marker, state: isLost ? 'lost' : ending.state, durationMs: Math.round(durationMs), error };
}

/** Not every thrown value can be converted to text, and the caller must get the original all the same. */
function textOf(error: unknown): string {
  try {
    return String(error);
  } catch {
    return describe(error);
  }
}

/**
 * Retries for as long as the lease is held: no other process writes until then. Never overwrites the marker of another.
 */
async function writeDown(marker: Marker, claimed: Claimed, lease: Lease, { markers }: JobContext): Promise<void> {
  const pauses = backoff(RETRY_FIRST_MS, RETRY_CAP_MS);
  for (;;) {
    try {
      await markers.write(marker, claimed);
      return;
    } catch (error) {
      if (!(error instanceof LockUnavailableError) || !lease.isHeld()) return logUnwritten(marker, error);
    }
    // A holder whose lease is to be released still holds it: the aborted signal indicates nothing any more.
    await pause(pauses.next(), lease.signal.aborted ? NEVER : lease.signal).catch(() => {});
  }
}

function logUnwritten({ name, state }: Marker, error: unknown): void {
  logger.warn(`${name}: that the run is ${state} could not be written down (${String(error)}); it will look crashed`);
}

/**
 * A run's lease as the method sees it. Its signal also aborts when the run has taken `atMostMs`; the lease remains
 * held.
 */
class LimitedLease extends EnteredLease {
  readonly dispose: Dispose;
  readonly #lease: Lease;
  readonly #overdue = new AbortController();
  readonly #either: AbortSignal;

  constructor(lease: Lease, atMostMs: number, onOverdue: () => void) {
    super(lease, lease.mode);
    this.#lease = lease;
    const either = anyAbort([lease.signal, this.#overdue.signal]);
    this.#either = either.signal;
    const stop = () => {
      this.#overdue.abort(new LockOverdueError(lease.key, atMostMs));
      onOverdue();
    };
    const cancel = atMostMs === Infinity ? () => {} : after(atMostMs, stop);
    this.dispose = () => {
      cancel();
      either.dispose();
    };
  }

  override get signal(): AbortSignal {
    return this.#either;
  }

  override get state(): LeaseState {
    const { state } = this.#lease;
    return state === 'held' && this.#overdue.signal.aborted ? 'revoking' : state;
  }
}
