import type { Attempt, Fault, History } from '../model/history.js';
import type { Finding } from './finding.js';

export const PROCESS_STOPPED = 'process stopped';
export const EVENT_LOOP_STALLED = 'event loop stalled';
/** The fault in which the monotonic clock and the timers of a machine are stopped. Only simulated. */
export const MACHINE_SUSPENDED = 'machine suspended';

/** The faults in which a process does not run, and so cannot give up in time either. */
const PAUSES: readonly string[] = [PROCESS_STOPPED, EVENT_LOOP_STALLED, MACHINE_SUSPENDED];

// The time that an acquisition may take beyond its deadline. It covers detecting that there is no server, leaving the
// wait queue, and a busy machine. This is no measure of speed: a stuck acquisition never ends.
const GRACE_MS = 15_000;

/** No worker was stuck: every acquisition ended by its deadline, and after the faults every worker got every key. */
export function checkLiveness(history: Omit<History, 'scenario' | 'seed'>, graceMs = GRACE_MS): Finding[] {
  return [...stuckAttempts(history, graceMs), ...missedFinals(history)];
}

function stuckAttempts(
  { attempts, ends, faults }: Pick<History, 'attempts' | 'ends' | 'faults'>,
  graceMs: number,
): Finding[] {
  const ended = new Set(ends.filter(({ end }) => end !== 'killed by a fault').map((one) => one.process));
  return attempts.flatMap((attempt) => {
    if (attempt.answeredAt === undefined && ended.has(attempt.process)) return [stuck(attempt, 'never ended')];
    const lateMs = lateness(attempt, faults);
    return lateMs > graceMs ? [stuck(attempt, `ended ${Math.round(lateMs)} ms after its deadline`)] : [];
  });
}

/** The time from the deadline of an attempt to its end, without the time in which its process did not run. */
function lateness({ process, askedAt, answeredAt = askedAt, waitMs }: Attempt, faults: readonly Fault[]): number {
  const pauses = faults.filter(({ name, target }) => target === process && PAUSES.includes(name));
  const paused = pauses.map(({ from, until }) => Math.min(until, answeredAt) - Math.max(from, askedAt));
  return answeredAt - askedAt - waitMs - paused.reduce((sum, ms) => sum + Math.max(0, ms), 0);
}

function stuck(attempt: Attempt, how: string): Finding {
  const message = `${attempt.process} asked for ${attempt.keys.join(', ')} with waitMs ${attempt.waitMs}; it ${how}`;
  return { check: 'liveness', message, records: [attempt] };
}

function missedFinals({ finals, finalsDue }: Pick<History, 'finals' | 'finalsDue'>): Finding[] {
  const failed = finals
    .filter((final) => final.error !== undefined)
    .map((final) => ({
      check: 'liveness',
      message: `${final.process} did not get "${final.key}" (${final.mode}) after the faults: ${final.error}`,
      records: [final],
    }));
  const missing = finalsDue - finals.length;
  if (missing <= 0) return failed;
  const message = `${missing} acquisitions of the final round did not end`;
  return [...failed, { check: 'liveness', message, records: [] }];
}
