/**
 * Several exclusive locks that are lined up for at once.
 * Znodes: those of the mutex, one in each directory, made in one transaction and so with one zxid.
 * Who waits for whom: on each key as in the mutex. Whoever is waited for has a smaller zxid, so there is no circle of
 * waiting; as long as nobody asks for anything more while it holds or waits for something.
 * Session loss: the servers remove the znodes; a waiter lines up again with all of them.
 * Source: our own; conservative two-phase locking, with the zxid of ZooKeeper's transactions as the order.
 */
import { anyAbort, OwnAbortController } from '../../async/abort.js';
import type { GrantedLease } from '../../contract/granted-lease.js';
import type { LockRequest } from '../../contract/lock-request.js';
import type { Session } from '../session/session.js';
import { acquireEntered } from './acquire.js';
import { at, enterLines } from './enter-lines.js';
import type { LockDirectory } from './lock-directory.js';
import type { Entry } from './protected-create.js';
import { turnInLine } from './turn-in-line.js';

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
  const failure = new OwnAbortController();
  const directories = members.map(({ directory }) => directory);
  const entering = enterLines(session, directories, first.request);
  const acquiring = members.map((member, place) => {
    const entry = entering.then((entries) => at(entries, place));
    return acquireMember(session, member, entry, failure);
  });
  const answers = await Promise.allSettled(acquiring);
  const leases = answers.flatMap((answer) => (answer.status === 'fulfilled' && answer.value) || []);
  if (leases.length === members.length) return leases;
  await Promise.all(leases.map((lease) => lease.release()));
  const { reason } = failure.signal;
  if (reason === NOT_NOW) return null;
  throw reason;
}

const NOT_NOW = Symbol('one of the locks is not to be had now');

/** The first of a set that fails, or is not to be had, ends the wait of all. */
async function acquireMember(
  session: Session,
  { directory, request }: SetMember,
  entering: Promise<Entry>,
  failure: AbortController,
): Promise<GrantedLease | null> {
  const limits = anyAbort([request.signal, failure.signal]);
  try {
    const limited = { ...request, signal: limits.signal };
    const lease = await acquireEntered(session, directory, limited, entering, turnInLine(session, request.wait));
    if (!lease) failure.abort(NOT_NOW);
    return lease;
  } catch (error) {
    failure.abort(error);
    throw error;
  } finally {
    limits.dispose();
  }
}
