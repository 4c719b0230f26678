import { HeldSegment } from '../composite/held-segment.js';
import { channels } from '../contract/channels.js';
import type { Contender } from '../contract/contender.js';
import { LockConfigurationError, LockReentrancyError } from '../contract/errors.js';
import type { LeaseMode } from '../contract/lease.js';
import type { LockBackend } from '../contract/lock-backend.js';
import { resolveRevokeOptions } from '../contract/revoke.options.js';
import type { RevokeOptions } from '../contract/revoke.options.js';
import type { LocalQueue } from '../local/local-queue.js';
import type { LocalCaller } from '../local/local-queue.js';
import { scopeHolding, heldLeases } from './hold-scope.js';
import type { LockConnection } from './lock-connection.js';
import { identityOfPermits } from './semaphores.js';

/** Returns the local queue of a mode in this process, if there is one. */
type FindLine = (mode: LeaseMode) => Pick<LocalQueue, 'callers' | 'isKept' | 'leases'> | undefined;

/**
 * Returns every contender that the backend knows, in order, and the callers of this process behind its own contenders.
 * - Callers that hold are listed with the contender that holds. If there are several, all are listed with the first one.
 * - Callers that wait are listed with the contender that waits, if there is one.
 * - If none of its callers is in its state, a contender is listed as it is: the lease is warm, or about to be granted
 *   to a caller.
 */
export function withLocalCallers(contenders: readonly Contender[], find: FindLine): Contender[] {
  const shown = new Map<string, number>();
  return contenders.flatMap((contender) => {
    const { isOwn, mode, state } = contender;
    const line = isOwn ? find(mode) : undefined;
    if (!line) return [contender];
    const place = (shown.get(`${mode} ${state}`) ?? 0) + 1;
    shown.set(`${mode} ${state}`, place);
    // Further contenders of this process may be of locks without a local queue.
    if (place > 1) return state === 'held' && place <= line.leases ? [] : [contender];
    const hasWaiting = contenders.some((other) => other.isOwn && other.mode === mode && other.state === 'waiting');
    const callers = line.callers.filter((caller) => !hasWaiting || caller.state === state);
    const first = callers[0]?.state === state ? callers.shift() : undefined;
    const own = first ? asCaller(contender, first) : { ...contender, isKept: state === 'held' && line.isKept };
    return [own, ...callers.map((caller) => ({ ...asCaller(contender, caller), isLocal: true }))];
  });
}

/** Returns the contender with the data of one of the callers behind it. */
function asCaller(contender: Contender, { state, label, since }: LocalCaller): Contender {
  return { ...contender, owner: { ...contender.owner, label }, state, since, isKept: false };
}

/** Takes the key away from its holders: they release it in time, or lose it after that. */
export async function revokeKey(
  { backend, origin }: LockConnection,
  key: string,
  options: RevokeOptions,
): Promise<void> {
  const resolved = resolveRevokeOptions(options);
  const identity = backend.identify(key);
  if (!backend.revoke) throw new LockConfigurationError(`the backend "${backend.name}" cannot revoke`, { key });
  if (isHeldHere(backend, identity)) throw new LockReentrancyError(key, 'it would wait for itself; release the lease');
  const { graceMs } = resolved;
  if (channels.revoke.hasSubscribers) {
    channels.revoke.publish({ connection: origin.connection, origin, key, graceMs, forced: graceMs === 0 });
  }
  await backend.revoke(key, resolved);
}

/** Whether the running code holds the key, permits of it, or the segment that it names. */
function isHeldHere(backend: LockBackend, identity: string): boolean {
  const scopes = [identity, identityOfPermits(identity)].map((one) => scopeHolding({ scope: backend, identity: one }));
  if (scopes.some((scope) => scope?.lease?.isHeld())) return true;
  const segments = [...heldLeases()].filter((lease) => lease instanceof HeldSegment);
  return segments.some((segment) => segment.isOn(backend) && backend.identify(segment.key) === identity);
}
