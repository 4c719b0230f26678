import type { History } from '../model/history.js';
import type { Finding } from './finding.js';

/**
 * A release was news to two waiters at most: the next, and the one behind it, who looks ahead. With the owner's own, no
 * znode that was deleted had more than three watches on it.
 */
export function checkWakeUps({ wakeUps }: Pick<History, 'wakeUps'>): Finding[] {
  if (!wakeUps || wakeUps.mostWatchesOfOne <= 3) return [];
  const message = `one release woke ${wakeUps.mostWatchesOfOne} waiters`;
  return [{ check: 'wake-ups', message, records: [wakeUps] }];
}
