import type { GrantedLease, LeaseFollower } from './granted-lease.js';
import type { LockRequest } from './lock-request.js';

/** Acquires one member of a set. The request's signal also aborts when the set cannot be acquired any more. */
type AcquireMember = (request: LockRequest, place: number) => Promise<GrantedLease | null>;

const NOT_NOW = Symbol('one of them is not to be had now');

/**
 * Returns the leases of all these requests, or of none. `null` when one of them cannot be granted now. All requests
 * have the same signal. The first failure ends the wait for all. So does a lease that is lost or revoked before the
 * others are granted: it is not in use yet.
 * @throws the first failure, `signal.reason`, or `broken()` when a lease was granted and lost
 */
export async function grantAll(
  requests: readonly LockRequest[],
  acquire: AcquireMember,
  broken: () => unknown,
): Promise<readonly GrantedLease[] | null> {
  const attempt = new AbortController();
  const leave = alongWith(requests[0]?.signal, attempt);
  const end = () => attempt.abort(broken());
  const follower: LeaseFollower = { suspend() {}, resume() {}, revoke: end, lose: end };
  const asked = requests.map(async (request, place) => {
    const lease = await acquire({ ...request, signal: attempt.signal }, place);
    if (!lease) attempt.abort(NOT_NOW);
    else if (lease.state === 'revoking' || !lease.isHeld()) end();
    lease?.addFollower(follower);
    return lease;
  });
  for (const member of asked) member.catch((error: unknown) => attempt.abort(error));
  const answers = await Promise.allSettled(asked);
  leave();
  const leases = answers.flatMap((answer) => (answer.status === 'fulfilled' && answer.value) || []);
  // `isHeld()` may detect only now that a lease has expired.
  const isWhole = leases.filter((lease) => lease.isHeld()).length === requests.length && !attempt.signal.aborted;
  leases.forEach((lease) => lease.removeFollower(follower));
  return isWhole ? leases : giveBack(leases, attempt.signal.reason);
}

/** Aborts the controller when the signal aborts, until disposed. */
function alongWith(signal: AbortSignal | undefined, controller: AbortController): () => void {
  const abort = () => controller.abort(signal?.reason);
  if (signal?.aborted) abort();
  signal?.addEventListener('abort', abort);
  return () => signal?.removeEventListener('abort', abort);
}

async function giveBack(leases: readonly GrantedLease[], reason: unknown): Promise<null> {
  await Promise.all(leases.map((lease) => lease.release()));
  if (reason !== NOT_NOW) throw reason;
  return null;
}
