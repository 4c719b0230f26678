import type { Following } from './cron-time.js';
import { isUnfinished } from './marker.js';
import type { Marker } from './marker.js';
import type { ScheduledJob } from './scheduled-job.js';

/** One call of a job by its scheduler, at one instant of this process's wall clock. */
export interface Firing {
  readonly job: ScheduledJob;
  readonly now: number;
  /** The nominal tick that the call is about; `undefined` where there are none. */
  readonly tick: number | undefined;
  readonly following: Following | undefined;
}

/**
 * What a marker says about a firing, before anything is known of the lock.
 * - `due`: nobody has begun it.
 * - `taken`: it is somebody's, or later ones are.
 * - `unfinished`: a run was begun that must be finished first, by its runner or, if that died, by another.
 */
export type Verdict = 'due' | 'taken' | 'unfinished';

export function verdictOn(marker: Marker | undefined, firing: Firing): Verdict {
  if (!marker) return 'due';
  if (isToRunAgain(marker, firing.job)) return 'unfinished';
  return covers(marker, firing) ? 'taken' : 'due';
}

/** Whether a run that was not finished is to be finished by another, unless its runner still lives. */
export function isToRunAgain(marker: Marker, { options }: ScheduledJob): boolean {
  return options.onCrash === 'rerun' && isUnfinished(marker) && marker.attempt < options.attempts;
}

/** Whether the marker's tick is the firing's, or later, or is followed by none that would be due by now. */
function covers({ tick }: Marker, { tick: own, following, now }: Firing): boolean {
  if (tick === undefined || own === undefined) return false;
  // The second matters in the hour that daylight saving repeats: who begins in it sees ticks that others passed over.
  return tick >= own || (following !== undefined && following(tick) > now);
}
