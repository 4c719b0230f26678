import type { Fault, Hold } from '../../robustness/model/history.js';
import { MACHINE_SUSPENDED } from '../../robustness/validate/liveness.js';

/**
 * The timers of a machine that was suspended are late by as long as it was, so a process compares its clocks now and then: see
 * docs/guarantees.md. Whoever only listens to the signal may go on for so long after it was resumed. That counts for nothing.
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
