import type { CallScope } from '../composite/multi-lock.js';
import { PLACE } from '../contract/placed.js';
import { placed } from './call-site.js';
import type { HeldTarget } from './held.js';
import { heldLeases, runUnder } from './held-leases.js';
import { watchSet } from './held-set.js';
import type { HoldWatch } from './hold-watch.js';

/** What a lock that is made of others needs to know of its calls. @param target what its sets are on */
export function callScope(watch: HoldWatch, target: Omit<HeldTarget, 'key'>): CallScope {
  return {
    enclose: runUnder,
    heldLeases,
    placed: (options, lock, verb) => placed(options, target, lock, verb),
    watch: (set, { label, [PLACE]: place }) => watchSet(watch, set, { ...target, key: set.key }, { label, place }),
  };
}
