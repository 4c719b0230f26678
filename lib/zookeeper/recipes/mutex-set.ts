/**
 * Set of mutexes: several exclusive locks that are queued for at once.
 * Znodes: those of the mutex, one in each directory. They are created in one transaction and so have one zxid.
 * Waiting: on each key as in the mutex. A predecessor has a smaller zxid, so there is no cycle of waiting. This holds
 * as long as no caller asks for more while it holds or waits for something.
 * Session loss: the servers remove the znodes. A waiter queues again on all keys. It does the same when one of its
 * znodes is deleted externally, or revoked, before it is first on all keys.
 * Source: our own; conservative two-phase locking, with the zxid of ZooKeeper's transactions as the order.
 */
import type { GrantedLease } from '../../contract/granted-lease.js';
import { grantAll } from '../../contract/granted-set.js';
import type { LockRequest } from '../../contract/lock-request.js';
import type { Session } from '../session/session.js';
import { acquireEntered, turnInQueue } from './wait-for-turn.js';
import { at, enterQueues } from './protected-create.js';
import type { LockDirectory } from './lock-directory.js';
import { NodeDeletedError } from './held-nodes.js';

/** One of the locks of a set. */
export interface SetMember {
  readonly directory: LockDirectory;
  readonly request: LockRequest;
}

/** Acquires all locks or none. `null` when one is not available now and the requests do not wait. */
export async function acquireMutexSet(
  session: Session,
  members: readonly SetMember[],
): Promise<readonly GrantedLease[] | null> {
  const [first] = members;
  if (!first) return [];
  const directories = members.map(({ directory }) => directory);
  const entering = enterQueues(session, directories, first.request);
  const acquire = (request: LockRequest, place: number) => {
    const entry = entering.then((entries) => at(entries, place));
    return acquireEntered(session, at(directories, place), request, entry, turnInQueue(session, request.wait));
  };
  const requests = members.map(({ request }) => request);
  return grantAll(requests, acquire, () => new NodeDeletedError(first.directory.path));
}
