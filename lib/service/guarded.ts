import type { ResolvedAcquireOptions } from '../contract/acquire.options.js';
import type { Lease } from '../contract/lease.js';
import { assertStands } from './held-leases.js';

/** The work's result, unless the lease was lost before it began, or while it ran and the caller wants to know. */
export async function guarded<L extends Lease, T>(
  lease: L,
  { onLost }: Pick<ResolvedAcquireOptions, 'onLost'>,
  work: (lease: L) => T | Promise<T>,
): Promise<T> {
  assertStands(lease);
  const result = await work(lease);
  const isLost = !lease.isHeld() && lease.state === 'lost';
  if (isLost && onLost === 'throw') throw lease.signal.reason;
  return result;
}
