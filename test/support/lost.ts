import type { Lease } from '../../lib/contract/lease.js';

/** Resolves with the reason when the lease is lost or revoked, also when it has been. */
export function lost({ signal }: Pick<Lease, 'signal'>): Promise<unknown> {
  if (signal.aborted) return Promise.resolve(signal.reason);
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(signal.reason), { once: true }));
}
