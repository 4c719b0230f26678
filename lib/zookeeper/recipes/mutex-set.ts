/**
 * Several exclusive locks that are lined up for at once.
 * Znodes: those of the mutex, one in each directory, made in one transaction and so with one zxid.
 * Who waits for whom: on each key as in the mutex. Whoever is waited for has a smaller zxid, so there is no circle of
 * waiting; as long as nobody asks for anything more while it holds or waits for something.
 * Session loss: the servers remove the znodes; a waiter lines up again with all of them. So it does when one of them is
 * deleted from outside, or asked to give way, before it is first on all keys.
 * Source: our own; conservative two-phase locking, with the zxid of ZooKeeper's transactions as the order.
 */
import type { GrantedLease } from '../../contract/granted-lease.js';
import { grantAll } from '../../contract/granted-set.js';
import type { LockRequest } from '../../contract/lock-request.js';
import type { Session } from '../session/session.js';
import { acquireEntered, turnInLine } from './wait-for-turn.js';
import { at, enterLines } from './protected-create.js';
import type { LockDirectory } from './lock-directory.js';
import { NodeDeletedError } from './held-nodes.js';

/** One of the locks of a set. */
export interface SetMember {
  readonly directory: LockDirectory;
  readonly request: LockRequest;
}

/** All or none. `null` when one is not to be had now and the requests do not wait. */
export async function acquireMutexSet(
  session: Session,
  members: readonly SetMember[],
): Promise<readonly GrantedLease[] | null> {
  const [first] = members;
  if (!first) return [];
  const directories = members.map(({ directory }) => directory);
  const entering = enterLines(session, directories, first.request);
  const acquire = (request: LockRequest, place: number) => {
    const entry = entering.then((entries) => at(entries, place));
    return acquireEntered(session, at(directories, place), request, entry, turnInLine(session, request.wait));
  };
  const requests = members.map(({ request }) => request);
  return grantAll(requests, acquire, () => new NodeDeletedError(first.directory.path));
}
