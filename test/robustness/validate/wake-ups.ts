import type { History } from '../model/history.js';
import type { Finding } from './finding.js';

/** A release woke one waiter: no znode that was deleted had more than one watch on it. */
export function checkWakeUps({ wakeUps }: Pick<History, 'wakeUps'>): Finding[] {
  if (!wakeUps || wakeUps.mostWatchesOfOne <= 1) return [];
  const message = `one release woke ${wakeUps.mostWatchesOfOne} waiters`;
  return [{ check: 'wake-ups', message, records: [wakeUps] }];
}
