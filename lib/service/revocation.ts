import { HeldSegment } from '../composite/held-segment.js';
import { LockConfigurationError, LockReentrancyError } from '../contract/errors.js';
import type { LockBackend } from '../contract/lock-backend.js';
import { resolveRevokeOptions } from '../contract/revoke.options.js';
import type { RevokeOptions } from '../contract/revoke.options.js';
import { frameHolding, heldLeases } from './held-leases.js';
import { identityOfPermits } from './semaphores.js';

/** Takes the key away from its holders, in their own time or after it. */
export async function revokeKey(backend: LockBackend, key: string, options: RevokeOptions): Promise<void> {
  const resolved = resolveRevokeOptions(options);
  const identity = backend.identify(key);
  if (!backend.revoke) throw new LockConfigurationError(`the backend "${backend.name}" can not revoke`, { key });
  if (isHeldHere(backend, identity)) throw new LockReentrancyError(key, 'it would wait for itself; release the lease');
  await backend.revoke(key, resolved);
}

/** Whether the running code holds the key, permits of it, or the segment that it names. */
function isHeldHere(backend: LockBackend, identity: string): boolean {
  const frames = [identity, identityOfPermits(identity)].map((one) => frameHolding({ scope: backend, identity: one }));
  if (frames.some((frame) => frame?.lease?.isHeld())) return true;
  const segments = [...heldLeases()].filter((lease) => lease instanceof HeldSegment);
  return segments.some((segment) => segment.isOn(backend) && backend.identify(segment.key) === identity);
}
