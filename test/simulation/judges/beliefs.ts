import { wasClosedOnPurpose } from '../../robustness/validate/closed-sessions.js';
import type { Hold } from '../../robustness/model/history.js';
import type { Finding } from '../../robustness/validate/finding.js';
import { HAND_OVER_BITS, isOf } from '../model/contenders.js';
import type { Contender, SimulationHistory } from '../model/history.js';

/** How long, in simulated milliseconds. */
export interface BeliefLimits {
  /** How long a holder may work on whose znode somebody has deleted: by then a heartbeat has found it gone. */
  readonly noticeMs?: number | undefined;
}

/** Of all holds, those whose token is the zxid of a contender. */
const OF_CONTENDERS: readonly Hold['kind'][] = [undefined, 'run', 'term'];

/**
 * Nobody believes to hold what the servers have given up: its contender stands for as long as the holder sees its lease stand.
 * So a loss that is told too late is seen although nobody else wanted the key.
 */
export function checkBeliefs(
  { holds, contenders, faults }: Pick<SimulationHistory, 'holds' | 'contenders' | 'faults'>,
  { noticeMs = Infinity }: BeliefLimits,
): Finding[] {
  const byOrder = new Map<number | bigint, Contender[]>();
  for (const one of contenders) byOrder.set(one.order, [...(byOrder.get(one.order) ?? []), one]);
  return holds.flatMap((hold) => {
    const { token, key, from, seenUntil, kind, isDowngraded } = hold;
    if (isDowngraded || !OF_CONTENDERS.includes(kind)) return [];
    const { goneAt } = byOrder.get(token >> HAND_OVER_BITS)?.find((one) => isOf(one.key, key)) ?? {};
    if (goneAt === undefined) return [];
    const allowedMs = wasClosedOnPurpose(hold, faults) ? noticeMs : 0;
    return seenUntil <= Math.max(goneAt + allowedMs, from) ? [] : [lateBelief(hold, goneAt)];
  });
}

function lateBelief(hold: Hold, goneAt: number): Finding {
  const { process, key, seenUntil } = hold;
  return {
    check: 'claim',
    message: `${process} believed at ${seenUntil} to hold "${key}", whose contender was gone since ${goneAt}`,
    records: [hold],
  };
}
