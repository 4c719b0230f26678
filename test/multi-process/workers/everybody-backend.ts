import { GrantedLease } from '../../../lib/contract/granted-lease.js';
import type { LockBackend } from '../../../lib/contract/lock-backend.js';
import { MemoryRecords } from '../../../lib/memory/memory-records.js';

/** The planted defect: a lock that excludes no other contender. */
export function everybodyBackend(): LockBackend {
  return {
    name: 'everybody',
    state: 'connected',
    records: new MemoryRecords(),
    identify: (key) => key,
    connect: async () => {},
    close: async () => {},
    lineOf: async () => [],
    acquire: async ({ key, mode }) =>
      new GrantedLease({ key, mode, fencingToken: 1n, isCurrent: () => true, giveBack: async () => {} }),
  };
}
