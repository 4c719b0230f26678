/**
 * Barrier: it is either raised or lifted, for all callers alike.
 * Znodes: the path itself, persistent. The barrier is raised while it exists, also after the process that raised it has
 * died.
 * Waiting: all waiting callers watch that one znode and are woken together, which is the purpose of a barrier.
 * Session loss: the barrier remains as it is, and waiting callers continue with the next session. A lift whose reply
 * was lost never lifts a barrier that was raised after it, because that is another znode.
 * Source: ZooKeeper Recipes, "Barriers"; the same znode as Curator's DistributedBarrier.
 */
import { withAnyAbort } from '../../async/abort.js';
import type { PassRequest } from '../../contract/coordination-backend.js';
import { contenderData } from '../recipes/contender-znode.js';
import { createNode } from '../recipes/create-node.js';
import type { LockDirectory } from '../recipes/lock-directory.js';
import { CreateMode, isKeeperError } from '../session/requests.js';
import type { Requests, Watch } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { untilFired, unlessMissing, watching } from '../session/watch.js';

/** The place of a barrier's znode. */
export interface BarrierPlace {
  readonly directory: LockDirectory;
  readonly name: string;
}

export async function raiseBarrier(
  session: Session,
  { directory, name }: BarrierPlace,
  signal: AbortSignal,
): Promise<void> {
  const node = { name, mode: CreateMode.persistent, data: contenderData() };
  await session
    .persistently(() => createNode(session.requests, directory, node), signal)
    .catch((error: unknown) => {
      if (!isKeeperError(error, 'nodeExists')) throw error;
    });
}

/**
 * One lift, through as many connections and sessions as it takes. It lifts the barrier that it finds first, not one
 * that is raised later.
 */
export class Lifting {
  readonly #path: string;
  #czxid: bigint | undefined;

  constructor(place: BarrierPlace) {
    this.#path = pathOf(place);
  }

  /** @throws KeeperError, SessionEndedError, `signal.reason` */
  async on(session: Session, signal: AbortSignal): Promise<void> {
    await session.persistently(() => this.#lift(session.requests), signal);
  }

  async #lift(requests: Requests): Promise<void> {
    // The server may not have seen the latest raise yet, or an own attempt whose reply was lost.
    const look = [requests.sync(this.#path), unlessMissing(requests.read(this.#path), undefined)] as const;
    const [, found] = await Promise.all(look);
    if (!found) return;
    this.#czxid ??= found.stat.czxid;
    if (found.stat.czxid === this.#czxid) await unlessMissing(requests.delete(this.#path), undefined);
  }
}

/**
 * Whether the barrier is lifted. With `wait` it resolves only then.
 * @throws KeeperError, SessionEndedError, `signal.reason`
 */
export async function passBarrier(
  session: Session,
  place: BarrierPlace,
  { wait, signal }: Pick<PassRequest, 'wait' | 'signal'>,
): Promise<boolean> {
  const path = pathOf(place);
  const look = async (untilAbort: (watch: Watch) => Watch) => {
    const watch = await unlessMissing(session.requests.watch(path), undefined);
    return watch && untilAbort(watch);
  };
  return withAnyAbort([signal, session.signal], async (limit) => {
    // A call that is made after the barrier was raised must not pass because its server is behind.
    await session.persistently(() => session.requests.sync(path), limit);
    for (;;) {
      const watch = await watching(session, look, limit);
      if (!watch) return true;
      if (wait) await untilFired([watch], limit);
      else watch.remove();
      if (!wait) return false;
    }
  });
}

function pathOf({ directory, name }: BarrierPlace): string {
  return `${directory.path}/${name}`;
}
