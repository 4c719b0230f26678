import { SESSION_CLOSED } from '../../robustness/validate/closed-sessions.js';
import type { Fault, Hold } from '../../robustness/model/history.js';
import type { Finding } from '../../robustness/validate/finding.js';
import type { SimulationHistory } from '../model/history.js';

/** How long, in simulated milliseconds. */
export interface BeliefLimits {
  /** How long a holder may work on whose znode somebody has deleted: by then a heartbeat has found it gone. */
  readonly noticeMs?: number | undefined;
}

/** By then the servers have ended a session, or deleted a znode, that a fault asked them to. */
const DONE_MS = 1_000;

/**
 * Nobody believes to hold what the servers have given up: its contender stands for as long as the holder sees its lease stand.
 * So a loss that is told too late is seen although nobody else wanted the key.
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

/** Whether the contender went because somebody else ended its session or deleted its znode. No holder knows that at once. */
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
