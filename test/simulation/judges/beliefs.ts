import { SESSION_CLOSED } from '../../robustness/validate/closed-sessions.js';
import type { Fault, Hold } from '../../robustness/model/history.js';
import type { Finding } from '../../robustness/validate/finding.js';
import type { SimulationHistory } from '../model/history.js';

/** Time limits in simulated milliseconds. */
export interface BeliefLimits {
  /**
   * The maximum time for which a holder works on after its znode was deleted from outside. By then a heartbeat has
   * found it gone.
   */
  readonly noticeMs?: number | undefined;
}

/** The maximum time in which the servers end a session, or delete a znode, after a fault has requested it. */
const DONE_MS = 1_000;

/**
 * No process believes to hold what the servers have given up: a contender exists for as long as its holder sees the
 * lease as held. So a late notification of a loss is found even if nobody else wanted the key.
 */
export function checkBeliefs(
  { holds, contenders, faults }: Pick<SimulationHistory, 'holds' | 'contenders' | 'faults'>,
  { noticeMs = Infinity }: BeliefLimits,
): Finding[] {
  const byId = new Map(holds.map((hold) => [hold.id, hold]));
  return contenders.flatMap(({ goneAt = Infinity, holds: resting = [] }) =>
    resting
      .map((id) => byId.get(id))
      .filter((hold) => hold !== undefined)
      .filter((hold) => hold.seenUntil > goneAt + (wasEndedByFault(hold, goneAt, faults) ? noticeMs : 0))
      .map((hold) => lateBelief(hold, goneAt)),
  );
}

/**
 * Whether the contender was deleted because its session was closed, or its znode deleted, from outside. No holder knows
 * that at once.
 */
function wasEndedByFault({ process }: Hold, goneAt: number, faults: readonly Fault[]): boolean {
  return faults.some(
    ({ name, target, from }) =>
      name === SESSION_CLOSED && target === process && from <= goneAt && goneAt <= from + DONE_MS,
  );
}

function lateBelief(hold: Hold, goneAt: number): Finding {
  const { process, key, seenUntil } = hold;
  return {
    check: 'claim',
    message: `${process} believed at ${seenUntil} to hold "${key}", whose contender was gone since ${goneAt}`,
    records: [hold],
  };
}
