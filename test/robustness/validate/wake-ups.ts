import type { History } from '../model/history.js';
import type { Finding } from './finding.js';

/**
 * A release notified two waiters at most: the next one, and the one behind it, which looks ahead. With the owner's own
 * watch, no deleted znode had more than three watches.
 */
export function checkWakeUps({ wakeUps }: Pick<History, 'wakeUps'>): Finding[] {
  if (!wakeUps || wakeUps.mostWatchesOfOne <= 3) return [];
  const message = `one release woke ${wakeUps.mostWatchesOfOne} waiters`;
  return [{ check: 'wake-ups', message, records: [wakeUps] }];
}
