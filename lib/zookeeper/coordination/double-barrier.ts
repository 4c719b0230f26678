/**
 * Double barrier: as many as agreed enter together, and leave together.
 * Znodes: `<path>/<uuid>`, ephemeral, one a member; `<path>/ready`, persistent, while they are in.
 * Who waits for whom: to enter, all watch for `ready` to be made. Whoever sees as many members as it takes makes it, in one
 * transaction with a check that each of them still stands there and has not given up: all enter, or nobody. To leave, see
 * `leaving.ts`.
 * Members may all die inside and leave `ready` behind. It lets in nobody who came after it was made, unless somebody stands
 * there who was before; when enough have come it is taken over by a write, in a transaction with the same checks.
 * Giving up: a member first writes to its own znode, and nobody can count it from then on; then it looks whether `ready`
 * was made before that. If so it has been counted, and is in; otherwise it goes.
 * Late-comers that find `ready` are in at once, with those who are.
 * Session loss: the servers remove the znode. Who waits enters again with the next session; who was in is out.
 * Source: ZooKeeper Recipes, "Double Barriers"; the znodes are those of Curator's DistributedDoubleBarrier, which counts
 * without a check.
 */
import { anyAbort } from '../../async/abort.js';
import type { EnterRequest } from '../../contract/coordination-backend.js';
import { LEAVING_MS } from '../recipes/wait-for-turn.js';
import type { Contender } from '../recipes/contender.js';
import type { LockDirectory } from '../recipes/lock-directory.js';
import { enterNamed } from '../recipes/protected-create.js';
import type { Session } from '../session/session.js';
import { BarrierEntry, isCountedIn, READY } from './barrier-entry.js';

/** The member that is in. @throws KeeperError, NodeDeletedError, SessionEndedError, `signal.reason` */
export async function enterTogether(
  session: Session,
  directory: LockDirectory,
  { count, label, signal }: EnterRequest,
): Promise<Contender> {
  // Not cut short once it is sent: the others may count a member that its own process has given up.
  const { contender: member } = await enterNamed(session, directory, { label, signal });
  try {
    await untilIn(session, directory, member, count, signal);
    // Told late, because this process stood still, it may be out by now. Not cut short: the others rely on it.
    if (!session.isProven) await session.proven(session.signal);
    return member;
  } catch (error) {
    await member.leave(LEAVING_MS);
    throw error;
  }
}

async function untilIn(
  session: Session,
  directory: LockDirectory,
  member: Contender,
  count: number,
  signal: AbortSignal,
): Promise<void> {
  const limits = anyAbort([signal, session.signal, member.gone]);
  try {
    await new BarrierEntry(session, directory, member, count).complete(limits.signal);
  } catch (error) {
    const hasGivenUp = signal.aborted && error === signal.reason && !session.signal.aborted && !member.isGone;
    if (!hasGivenUp || !(await isCountedIn(session, member, `${directory.path}/${READY}`))) throw error;
  } finally {
    limits.dispose();
  }
}
