/**
 * Mutex: an exclusive lock.
 * Znodes: `<path>/_c_<uuid>-lock-<number>`, ephemeral and sequential, one per contender.
 * Waiting: each contender waits for the nearest one before it, readers and writers included, and watches that one. With
 * `line: 'none'` a contender never waits. It is the first in the list that comes with its create, or deletes its znode
 * again.
 * Session loss: the servers remove the znode. A holder's lease is lost before that. A waiter queues again.
 * Source: ZooKeeper Recipes, "Locks"; the names are those of Curator's InterProcessMutex. So a holder here excludes
 * Curator's, and the reverse.
 */
import type { GrantedLease } from '../../contract/granted-lease.js';
import type { LockRequest } from '../../contract/lock-request.js';
import type { Session } from '../session/session.js';
import { acquireEntered, turnIfFirst, QueueTurn } from './wait-for-turn.js';
import type { LockDirectory } from './lock-directory.js';
import { enterQueue } from './protected-create.js';
import { sequenceFastPathIn } from './shortcuts/sequence-fast-path.js';

export function acquireMutex(
  session: Session,
  directory: LockDirectory,
  request: LockRequest,
): Promise<GrantedLease | null> {
  const fastPath = sequenceFastPathIn(session, directory.path).enter();
  const entering = enterQueue(session, directory, 'lock', request, fastPath);
  const turn = request.line === 'none' ? turnIfFirst() : new QueueTurn(session, request.wait);
  return acquireEntered(session, directory, request, entering, turn);
}
