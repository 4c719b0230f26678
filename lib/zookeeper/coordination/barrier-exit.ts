/**
 * Leaving a double barrier.
 * Waiting: every member but the first by name leaves at once and watches the first. The first watches the last member,
 * then the one before it, until it is alone. It then deletes its own znode and `ready` in one transaction. So each
 * member but the first is woken once.
 * A member waits only for the members that were there when it began to leave. Before that, no member of the same round
 * can have left and entered again.
 * If the first has died, any member that finds all others gone deletes `ready`. It does so in a transaction that
 * succeeds only if the directory is otherwise empty, so no member of the next round is in yet.
 * Session loss: a member that had not yet left is out. A member that had left waits for the others with the next
 * session.
 */
import { withAnyAbort } from '../../async/abort.js';
import { orLateAbort } from '../../async/timer.js';
import type { Contender } from '../recipes/contender.js';
import { NodeDeletedError } from '../recipes/held-nodes.js';
import type { LockDirectory } from '../recipes/lock-directory.js';
import { LEAVING_MS } from '../recipes/wait-for-turn.js';
import { ErrorCode, KeeperError, refusedAt } from '../session/requests.js';
import type { MultiOp } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { unlessMissing, untilChanged } from '../session/watch.js';
import { membersIn, READY } from './barrier-entry.js';

/** The leaving of one member, through as many sessions as it takes. */
export class BarrierExit {
  readonly #directory: LockDirectory;
  readonly #member: Contender;
  /** The members that were in when this one began to leave, without itself. */
  #others: readonly string[] | undefined;
  #isOut = false;

  constructor(directory: LockDirectory, member: Contender) {
    this.#directory = directory;
    this.#member = member;
  }

  /** Whether this member has left, so that its own znode is deleted. */
  get isOut(): boolean {
    return this.#isOut;
  }

  /** @throws KeeperError, NodeDeletedError, SessionEndedError, `signal.reason` */
  on(session: Session, signal: AbortSignal): Promise<void> {
    return withAnyAbort([signal, session.signal], async (limit) => {
      for (;;) {
        const left = await this.#look(session, limit);
        // No other member is left to wait for, so an answer that comes soon still counts.
        if (left.length === 0) return orLateAbort(this.#isLast(session), limit, LEAVING_MS);
        await this.#wait(session, left, limit);
      }
    });
  }

  /** Returns those of `#others` that are still there. */
  async #look(session: Session, signal: AbortSignal): Promise<readonly string[]> {
    const { path } = this.#directory;
    // Other members may have entered through a server that is ahead of this one's.
    if (!this.#others) await session.persistently(() => session.requests.sync(path), signal);
    const listed = session.persistently(() => session.requests.children(path), signal);
    const present = membersIn(await unlessMissing(listed, []));
    if (!this.#isOut && !present.includes(this.#member.name)) throw new NodeDeletedError(this.#member.path);
    this.#others ??= present.filter((name) => name !== this.#member.name);
    return this.#others.filter((name) => present.includes(name));
  }

  async #wait(session: Session, left: readonly string[], signal: AbortSignal): Promise<void> {
    const [first = ''] = left;
    const isFirst = !this.#isOut && this.#member.name < first;
    if (!this.#isOut && !isFirst) {
      this.#isOut = true;
      await this.#member.leave(this.#directory.releaseTimeoutMs);
    }
    const awaited = isFirst ? left.at(-1) : first;
    await untilChanged(session, `${this.#directory.path}/${awaited}`, signal);
  }

  /** Leaves as the last member. */
  async #isLast(session: Session): Promise<void> {
    const { path } = this.#directory;
    const ready: MultiOp = { type: 'delete', path: `${path}/${READY}` };
    if (this.#isOut) return this.#removeLeftOver(session, ready);
    this.#isOut = true;
    const own: MultiOp = { type: 'delete', path: this.#member.path };
    await this.#member.leaveBy(async () => {
      const { results } = await session.surely(() => session.requests.multi([own, ready]));
      // If there is no `ready`, or an earlier attempt was applied, only this is left to do.
      if (refusedAt(results) >= 0) await this.#member.leave(this.#directory.releaseTimeoutMs);
    });
  }

  async #removeLeftOver(session: Session, ready: MultiOp): Promise<void> {
    const { path, acl, parents } = this.#directory;
    const empty = Buffer.alloc(0);
    const again: MultiOp = { type: 'create', path, data: empty, acl, flags: 0 };
    const ops: readonly MultiOp[] = [ready, { type: 'delete', path }, ...(parents === 'persistent' ? [again] : [])];
    const { results } = await session.surely(() => session.requests.multi(ops));
    const error = results[refusedAt(results)]?.error ?? ErrorCode.ok;
    const isNotOurs = error === ErrorCode.noNode || error === ErrorCode.notEmpty;
    if (error !== ErrorCode.ok && !isNotOurs) throw new KeeperError(error, path);
  }
}
