import type { StoredRecord } from '../contract/record-store.js';
import type { JobRun, JobRunState, Runner } from '../contract/job-event.js';
import type { Following } from './schedule.js';
import type { ScheduledJob } from './scheduled-job.js';

/** The record of a job: its latest run. */
export interface Marker {
  readonly name: string;
  readonly key: string;
  /** In milliseconds since 1970, as all instants here. */
  readonly tick: number | undefined;
  readonly state: Exclude<JobRunState, 'crashed'>;
  readonly runner: Runner;
  readonly runId: string;
  readonly attempt: number;
  /**
   * On the servers' clock. `undefined` in the marker that records the beginning of a run: it is the time of that write.
   */
  readonly startedAt: number | undefined;
  readonly durationMs?: number | undefined;
  readonly error?: string | undefined;
}

const LONGEST_ERROR = 2_000;

/** The folder of a service's job records; for `undefined`, of the records of jobs that belong to no service. */
export function markerFolder(service: string | undefined): string {
  return service === undefined ? 'shared-cron' : `cron/${service}`;
}

/**
 * The name of a job's record. The key becomes one segment, however many it has, so that the folder lists all records.
 * Nothing else is encoded: a key that is short enough, in any script, must give a name that is short enough.
 */
export function markerName(folder: string, key: string): string {
  return `${folder}/${key.replaceAll(/[%/]/g, encodeURIComponent)}`;
}

export function encodeMarker(marker: Marker): string {
  const { tick, startedAt, error } = marker;
  const readable = { tick: iso(tick), startedAt: iso(startedAt), error: error?.slice(0, LONGEST_ERROR) };
  return JSON.stringify({ ...marker, ...readable });
}

/** Returns `undefined` for a value that is not a marker; it will be overwritten. */
export function decodeMarker({ value, writtenAt }: StoredRecord): Marker | undefined {
  const fields = parsed(value);
  if (!isMarker(fields)) return undefined;
  return { ...fields, tick: instant(fields.tick), startedAt: instant(fields.startedAt) ?? writtenAt.getTime() };
}

/** Whether a run has begun, but its record shows neither how it ended nor that continuing from there is safe. */
function isUnfinished({ state }: Marker): boolean {
  return state === 'running' || state === 'lost';
}

export function runOf(marker: Marker, state: JobRunState = marker.state): JobRun {
  const { name, key, tick, runner, runId, attempt, startedAt = 0, durationMs, error } = marker;
  const dates = { tick: tick === undefined ? undefined : new Date(tick), startedAt: new Date(startedAt) };
  return { name, key, state, runner, runId, attempt, durationMs, error, ...dates };
}

function parsed(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

type Encoded = Omit<Marker, 'tick' | 'startedAt'> & { readonly tick?: string; readonly startedAt?: string };

function isMarker(value: unknown): value is Encoded {
  if (typeof value !== 'object' || value === null) return false;
  const { name, key, state, runId, attempt, runner, tick, startedAt } = value as Partial<
    Record<keyof Encoded, unknown>
  >;
  const areTexts = [name, key, state, runId].every((field) => typeof field === 'string');
  if (!areTexts || ![tick, startedAt].every(isInstant)) return false;
  return typeof attempt === 'number' && typeof runner === 'object' && runner !== null;
}

function isInstant(value: unknown): boolean {
  return value === undefined || (typeof value === 'string' && !Number.isNaN(Date.parse(value)));
}

function iso(instantMs: number | undefined): string | undefined {
  return instantMs === undefined ? undefined : new Date(instantMs).toISOString();
}

function instant(text: string | undefined): number | undefined {
  return text === undefined ? undefined : new Date(text).getTime();
}

/** One call of a job by its scheduler, at one instant of this process's wall clock. */
export interface Firing {
  readonly job: ScheduledJob;
  readonly now: number;
  /** The nominal tick of the call; `undefined` where there are none. */
  readonly tick: number | undefined;
  readonly following: Following | undefined;
}

/**
 * The marker's status for a firing, before anything is known of the lock.
 * - `due`: no run has begun it.
 * - `taken`: a run has it, or a later one.
 * - `unfinished`: a run was begun that must be finished first, by its runner or, if that died, by another process.
 */
type TickStatus = 'due' | 'taken' | 'unfinished';

export function tickStatusOf(marker: Marker | undefined, firing: Firing): TickStatus {
  if (!marker) return 'due';
  if (isToRunAgain(marker, firing.job)) return 'unfinished';
  return covers(marker, firing) ? 'taken' : 'due';
}

/** Whether an unfinished run is to be finished by another process, unless its runner is still alive. */
export function isToRunAgain(marker: Marker, { options }: ScheduledJob): boolean {
  return options.onCrash === 'rerun' && isUnfinished(marker) && marker.attempt < options.attempts;
}

/** Whether the marker's tick is the firing's or a later one, or is followed by none that would be due by now. */
function covers({ tick }: Marker, { tick: own, following, now }: Firing): boolean {
  if (tick === undefined || own === undefined) return false;
  // The second matters in the hour that daylight saving repeats: a process that starts in it sees ticks that others
  // skipped.
  return tick >= own || (following !== undefined && following(tick) > now);
}
