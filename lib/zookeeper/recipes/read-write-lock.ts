/**
 * Read-write lock: many readers or one writer.
 * Znodes: `<path>/_c_<uuid>-__READ__<number>` and `…-__WRIT__<number>`, ephemeral and sequential, one per contender.
 * Waiting: a reader waits for the nearest writer before it, a writer for the nearest contender before it. Each watches
 * that one. A release wakes the next writer, or all readers up to the next writer, and no other contender. Readers that
 * queue after a waiting writer wait behind it.
 * Session loss: the servers remove the znode. A holder's lease is lost before that. A waiter queues again.
 * Source: ZooKeeper Recipes, "Shared Locks"; the names are those of Curator's InterProcessReadWriteLock.
 */
import type { GrantedLease } from '../../contract/granted-lease.js';
import type { LockRequest } from '../../contract/lock-request.js';
import type { Session } from '../session/session.js';
import { acquireEntered, QueueTurn } from './wait-for-turn.js';
import type { LockDirectory } from './lock-directory.js';
import { enterQueue } from './protected-create.js';
import { sequenceFastPathIn } from './shortcuts/sequence-fast-path.js';

export function acquireReadWrite(
  session: Session,
  directory: LockDirectory,
  kind: 'read' | 'write',
  request: LockRequest,
): Promise<GrantedLease | null> {
  const fastPath = kind === 'write' ? sequenceFastPathIn(session, directory.path).enter() : undefined;
  const entering = enterQueue(session, directory, kind, request, fastPath);
  return acquireEntered(session, directory, request, entering, new QueueTurn(session, request.wait));
}
