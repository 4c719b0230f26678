import type { GrantedLease, LeaseFollower } from './granted-lease.js';
import type { LockRequest } from './lock-request.js';

/** Asks for one of a set, with a signal that also ends when the set is not to be had any more. */
type AcquireMember = (request: LockRequest, place: number) => Promise<GrantedLease | null>;

const NOT_NOW = Symbol('one of them is not to be had now');

/**
 * The leases of all these requests, which have one signal, or of none; `null` when one is not to be had now. The first that
 * fails ends the wait of all. So does one that is lost, or is asked to give way, before the others are there: nobody uses
 * it yet.
 * @throws what the first says that fails, `signal.reason`, `broken()` when one has come and gone
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
  // One may find out only now that its time has run out.
  const isWhole = leases.filter((lease) => lease.isHeld()).length === requests.length && !attempt.signal.aborted;
  leases.forEach((lease) => lease.removeFollower(follower));
  return isWhole ? leases : giveBack(leases, attempt.signal.reason);
}

/** Aborts the controller when the signal does, until disposed. */
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
