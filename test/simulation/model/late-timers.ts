import type { Fault, Hold } from '../../robustness/model/history.js';
import { MACHINE_SUSPENDED } from '../../robustness/validate/liveness.js';

/**
 * Cuts holds that outlast a suspension only because of late timers. The timers of a suspended machine are late by the
 * length of the suspension, so a process compares its clocks at intervals: see docs/guarantees.md. A holder that only
 * listens to the signal may continue for that long after the machine was resumed. That time does not count.
 * @param compareMs how long after it was resumed a process has compared its clocks
 */
export function withoutLateTimers(holds: readonly Hold[], faults: readonly Fault[], compareMs: number): Hold[] {
  const suspensions = faults.filter(({ name }) => name === MACHINE_SUSPENDED);
  return holds.map((hold) => {
    const { isListening = false, process, from, seenUntil } = hold;
    const suspension = suspensions.find(
      (one) =>
        one.target === process && one.from >= from && one.until <= seenUntil && seenUntil <= one.until + compareMs,
    );
    return isListening && suspension ? { ...hold, seenUntil: suspension.from } : hold;
  });
}
