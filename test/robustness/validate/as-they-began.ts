import { byKey } from '../../../lib/testing/backend-faults/fault-history.js';
import type { Hold } from '../model/history.js';

/** Returns the holds of each key, in the order in which they began. */
export function asTheyBegan(holds: readonly Hold[]): Hold[][] {
  return byKey(holds).map((group) => group.sort((a, b) => a.from - b.from));
}
