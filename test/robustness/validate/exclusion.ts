import { excludes } from '../model/history.js';
import type { Fault, History, Hold } from '../model/history.js';
import { asTheyBegan } from './as-they-began.js';
import { grantedSince, wasEndedEarly } from './closed-sessions.js';
import type { Finding } from './finding.js';

/** No two processes observed mutually exclusive leases as held at the same time. */
export function checkExclusion({ holds, faults }: Pick<History, 'holds' | 'faults'>): Finding[] {
  return asTheyBegan(holds).flatMap((group) => overlapsOf(group, faults));
}

function overlapsOf(holds: readonly Hold[], faults: readonly Fault[]): Finding[] {
  const found: Finding[] = [];
  let believing: Hold[] = [];
  for (const hold of holds) {
    believing = believing.filter((other) => other.seenUntil > hold.from);
    for (const other of believing) {
      if (excludes(hold.mode, other.mode) && !isExcused([hold, other], holds, faults)) found.push(overlap(other, hold));
    }
    believing.push(hold);
  }
  return found;
}

function isExcused(both: readonly Hold[], holds: readonly Hold[], faults: readonly Fault[]): boolean {
  return both.some((hold) => wasEndedEarly(hold, faults, grantedSince(hold, holds)));
}

function overlap(first: Hold, second: Hold): Finding {
  const forMs = Math.min(first.seenUntil, second.seenUntil) - second.from;
  const who = `${first.process} (${first.mode}) and ${second.process} (${second.mode})`;
  return {
    check: 'exclusion',
    message: `${who} both believed that they hold "${first.key}", for ${forMs.toFixed(1)} ms`,
    records: [first, second],
  };
}
