import type { Fault, History, Hold } from '../model/history.js';
import { asTheyBegan } from './as-they-began.js';
import { grantedSince, wasEndedEarly } from './closed-sessions.js';
import type { Finding } from './finding.js';

/**
 * In the order in which leases began, tokens grow between any two that exclude each other. Two readers are not
 * compared, because readers that were granted together begin in any order. A holder whose session was closed on purpose
 * while its grant was on the way is ignored: it is late, and its token shows that.
 */
export function checkFencingTokens({ holds, faults }: Pick<History, 'holds' | 'faults'>): Finding[] {
  return asTheyBegan(holds).flatMap((group) => stepsBack(group, faults));
}

function stepsBack(holds: readonly Hold[], faults: readonly Fault[]): Finding[] {
  const found: Finding[] = [];
  let largest: Hold | undefined;
  let largestAlone: Hold | undefined;
  for (const hold of holds) {
    const before = hold.mode === 'read' ? largestAlone : largest;
    const isBack = before !== undefined && hold.token <= before.token;
    if (isBack && !wasEndedEarly(hold, faults, grantedSince(hold, holds))) found.push(stepBack(before, hold));
    if (!largest || hold.token > largest.token) largest = hold;
    if (hold.mode !== 'read' && (!largestAlone || hold.token > largestAlone.token)) largestAlone = hold;
  }
  return found;
}

function stepBack(before: Hold, hold: Hold): Finding {
  return {
    check: 'fencing tokens',
    message: `"${hold.key}": ${hold.process} was granted ${hold.token} after ${before.process} had ${before.token}`,
    records: [before, hold],
  };
}
