import type { History } from '../model/history.js';
import type { Finding } from './finding.js';

/**
 * Without holders and waiters, the servers have no contender and no watch. After all have closed, they have no session
 * either.
 */
export function checkLeftovers({ leftovers }: Pick<History, 'leftovers'>): Finding[] {
  return leftovers.map((leftover) => ({
    check: 'leftovers',
    message: `${leftover.when === 'idle' ? 'with everybody idle' : 'with everybody gone'}, there was ${leftover.what}`,
    records: [leftover],
  }));
}
