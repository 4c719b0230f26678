import type { Finding } from '../../robustness/validate/finding.js';
import type { SimulationHistory } from '../model/history.js';

/** How long, in simulated milliseconds. */
export interface FailOverLimits {
  readonly calmMs: number;
  /** How long after it last saw its lease stand a holder has lost it, at most. Default: `calmMs`. */
  readonly lookMs?: number | undefined;
  /** Whether links are fast enough for a client to find another server before its session ends. */
  readonly canFailOver?: boolean | undefined;
}

/** Keys that nobody revokes. */
const KEPT = 'orders/';

/** A follower that stands still is left in time: while nothing else is wrong, no lease is lost by it. */
export function checkFailOver(
  { holds, faults }: Pick<SimulationHistory, 'holds' | 'faults'>,
  { calmMs, lookMs = calmMs, canFailOver = false }: FailOverLimits,
): Finding[] {
  if (!canFailOver) return [];
  const lost = holds.filter(({ key, end }) => end === 'lost' && key.startsWith(KEPT));
  return lost.flatMap((hold) => {
    // What begins after the loss is not its cause.
    const [from, until] = [hold.from - calmMs, hold.seenUntil + lookMs];
    const around = faults.filter((fault) => fault.from <= until && fault.until >= from);
    const isCause = around.length === 1 && around[0]?.name === 'freeze' && around[0].target === 'follower';
    if (!isCause) return [];
    const message = `${hold.process} lost "${hold.key}" when one follower stood still, with others to go to`;
    return [{ check: 'liveness', message, records: [hold, ...around] }];
  });
}
