import type { ResolvedAcquireOptions } from '../contract/acquire.options.js';
import { LockError } from '../contract/errors.js';
import type { Lease } from '../contract/lease.js';
import { assertStands } from './held-leases.js';

/**
 * The work's result, unless the lease was lost before it began, or while it ran and the caller wants to know. Work that ended
 * because its lease's signal aborted rejects with the reason of the signal, not with the `AbortError` that stands for it.
 */
export async function guarded<L extends Lease, T>(
  lease: L,
  { onLost }: Pick<ResolvedAcquireOptions, 'onLost'>,
  work: (lease: L) => T | Promise<T>,
): Promise<T> {
  assertStands(lease);
  const result = await call(work, lease);
  const isLost = !lease.isHeld() && lease.state === 'lost';
  if (isLost && onLost === 'throw') throw lease.signal.reason;
  return result;
}

async function call<L extends Lease, T>(work: (lease: L) => T | Promise<T>, lease: L): Promise<T> {
  try {
    return await work(lease);
  } catch (error) {
    throw abortReasonIn(error) ?? error;
  }
}

/** Node's own functions reject with an `AbortError` whose cause is the reason of the signal that they were given. */
function abortReasonIn(error: unknown): LockError | undefined {
  if (!(error instanceof Error) || error.name !== 'AbortError') return undefined;
  return error.cause instanceof LockError ? error.cause : undefined;
}
