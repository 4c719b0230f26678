/**
 * Double barrier: an agreed number of members enter together, and leave together.
 * Znodes: `<path>/<uuid>`, ephemeral, one per member; `<path>/ready`, persistent, while the members are in.
 * Waiting: to enter, all members watch for the creation of `ready`. Any member that sees enough members creates it, in
 * one transaction with a check of each of them. The check fails if a member's znode is gone or the member has given up.
 * So either all enter, or none. To leave, see `barrier-exit.ts`.
 * A left-behind `ready`: members may all die inside and leave it. It lets in no member that was created later, unless a
 * member that is older than `ready` is still there. When enough members are there, it is taken over by a write, in a
 * transaction with the same checks.
 * Giving up: a member first writes to its own znode, and cannot be counted from then on. Then it looks whether `ready`
 * was made before that write. If so, it has been counted and is in. Otherwise it leaves.
 * Latecomers that find `ready` are in at once, together with the members that are in.
 * Session loss: the servers delete the member's znode. A waiting member enters again with the next session. A member
 * that was in is out.
 * Source: ZooKeeper Recipes, "Double Barriers"; the znodes are those of Curator's DistributedDoubleBarrier, which
 * counts without a check.
 */
import { orAbort, withAnyAbort } from '../../async/abort.js';
import type { EnterRequest } from '../../contract/coordination-backend.js';
import { LEAVING_MS } from '../recipes/wait-for-turn.js';
import type { Contender } from '../recipes/contender.js';
import type { LockDirectory } from '../recipes/lock-directory.js';
import { enterNamed } from '../recipes/protected-create.js';
import type { Session } from '../session/session.js';
import { BarrierEntry, isCountedIn, READY } from './barrier-entry.js';
import { whileCurrent } from './while-current.js';

/**
 * Enters, and returns the member that is in.
 * @throws KeeperError, NodeDeletedError, SessionEndedError, `signal.reason`
 */
export async function enterTogether(
  session: Session,
  directory: LockDirectory,
  { count, label, signal }: EnterRequest,
): Promise<Contender> {
  const entering = enterNamed(session, directory, { label, signal });
  const { contender: member } = await whileCounted(session, entering, signal).catch((error: unknown) => {
    // The create may turn out to have been applied.
    void entering.then(({ contender }) => contender.leave(0)).catch(() => {});
    throw error;
  });
  try {
    await untilIn(session, directory, member, count, signal);
    // After a stall of this process the member may already be out.
    if (!session.isProven) await whileCounted(session, session.proven(session.signal), signal);
    return member;
  } catch (error) {
    await member.leave(LEAVING_MS);
    throw error;
  }
}

/**
 * Settles as the promise does. The caller's signal cuts this short only once the session may have expired. Until then
 * the others may count a member that its own process has given up.
 */
function whileCounted<T>(session: Session, answer: Promise<T>, signal: AbortSignal): Promise<T> {
  return orAbort(answer, signal).catch((error: unknown) => {
    return whileCurrent(session, answer, () => {
      throw error;
    });
  });
}

async function untilIn(
  session: Session,
  directory: LockDirectory,
  member: Contender,
  count: number,
  signal: AbortSignal,
): Promise<void> {
  const entry = new BarrierEntry(session, directory, member, count);
  try {
    await withAnyAbort([signal, session.signal, member.gone], (limit) => entry.complete(limit));
  } catch (error) {
    const hasGivenUp = signal.aborted && error === signal.reason && !session.signal.aborted && !member.isGone;
    if (!hasGivenUp || !(await isCountedIn(session, member, `${directory.path}/${READY}`))) throw error;
  }
}
