import type { Lease } from '../../../../lib/contract/lease.js';
import { eventually } from '../../../support/eventually.js';

/** Resolves with the reason when the lease is lost. */
export function lost(lease: Lease): Promise<unknown> {
  if (lease.signal.aborted) return Promise.resolve(lease.signal.reason);
  return new Promise((resolve) => lease.signal.addEventListener('abort', () => resolve(lease.signal.reason)));
}

export async function untilState(lease: Lease, state: Lease['state']): Promise<void> {
  await eventually(() => lease.state === state || undefined, `a lease that is ${state}`);
}
