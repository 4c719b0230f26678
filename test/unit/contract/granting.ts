import { GrantedLease } from '../../../lib/contract/granted-lease.js';
import type { Grant } from '../../../lib/contract/granted-lease.js';

/** A lease as a backend may grant it. */
export function granted(grant: Partial<Grant> = {}): GrantedLease {
  return new GrantedLease({
    key: 'orders/42',
    mode: 'exclusive',
    fencingToken: 7n,
    isCurrent: () => true,
    giveBack: async () => {},
    ...grant,
  });
}
