import type { Finding } from '../../robustness/validate/finding.js';
import type { SimulationHistory } from '../model/history.js';

/** Time limits in simulated milliseconds. */
export interface FailOverLimits {
  readonly calmMs: number;
  /** The maximum time between a holder's last look at its lease and the loss. Default: `calmMs`. */
  readonly lookMs?: number | undefined;
  /** Whether links are fast enough for a client to find another server before its session ends. */
  readonly canFailOver?: boolean | undefined;
}

/** The prefix of keys that nobody revokes. */
const KEPT = 'orders/';

/** Clients leave a frozen follower in time. Without another fault, no lease is lost by it. */
export function checkFailOver(
  { holds, faults }: Pick<SimulationHistory, 'holds' | 'faults'>,
  { calmMs, lookMs = calmMs, canFailOver = false }: FailOverLimits,
): Finding[] {
  if (!canFailOver) return [];
  const lost = holds.filter(({ key, end }) => end === 'lost' && key.startsWith(KEPT));
  return lost.flatMap((hold) => {
    // A fault that begins after the loss is not its cause.
    const [from, until] = [hold.from - calmMs, hold.seenUntil + lookMs];
    const around = faults.filter((fault) => fault.from <= until && fault.until >= from);
    const isCause = around.length === 1 && around[0]?.name === 'freeze' && around[0].target === 'follower';
    if (!isCause) return [];
    const message = `${hold.process} lost "${hold.key}" when one follower stood still, with others to go to`;
    return [{ check: 'liveness', message, records: [hold, ...around] }];
  });
}
