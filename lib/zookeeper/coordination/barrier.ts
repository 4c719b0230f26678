/**
 * Barrier: up or down, for all who come to it.
 * Znodes: the path itself, persistent; while it is there, the barrier is up. So it stays up when whoever raised it dies.
 * Who waits for whom: all who wait watch that one znode, and are woken together: that is what a barrier is for.
 * Session loss: the barrier stays as it is; who waits goes on with the next session. A lift whose reply was lost never lifts
 * what somebody has raised after it: that is another znode.
 * Source: ZooKeeper Recipes, "Barriers"; the same znode as Curator's DistributedBarrier.
 */
import { anyAbort } from '../../async/abort.js';
import type { PassRequest } from '../../contract/coordination-backend.js';
import { contenderData } from '../recipes/contender-data.js';
import { createNode } from '../recipes/create-node.js';
import type { LockDirectory } from '../recipes/lock-directory.js';
import { CreateMode, isKeeperError } from '../session/requests.js';
import type { Requests, Watch } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { untilFired, unlessMissing, watching } from '../session/watch.js';

/** Where a barrier's znode is. */
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

/** One lift, through as many connections and sessions as it takes: of the barrier that it finds, not of one raised after it. */
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
    // The server that is asked may be behind who has raised it, or behind an attempt whose reply was lost.
    const look = [requests.sync(this.#path), unlessMissing(requests.read(this.#path), undefined)] as const;
    const [, found] = await Promise.all(look);
    if (!found) return;
    this.#czxid ??= found.stat.czxid;
    if (found.stat.czxid === this.#czxid) await unlessMissing(requests.delete(this.#path), undefined);
  }
}

/** Whether the barrier is down: with `wait` only once it is. @throws KeeperError, SessionEndedError, `signal.reason` */
export async function passBarrier(
  session: Session,
  place: BarrierPlace,
  { wait, signal }: Pick<PassRequest, 'wait' | 'signal'>,
): Promise<boolean> {
  const path = pathOf(place);
  const limits = anyAbort([signal, session.signal]);
  const look = async (untilAbort: (watch: Watch) => Watch) => {
    const watch = await unlessMissing(session.requests.watch(path), undefined);
    return watch && untilAbort(watch);
  };
  try {
    // Whoever is told to wait after the barrier was raised must not pass because its server is behind.
    await session.persistently(() => session.requests.sync(path), limits.signal);
    for (;;) {
      const watch = await watching(session, look, limits.signal);
      if (!watch) return true;
      if (wait) await untilFired([watch], limits.signal);
      else watch.remove();
      if (!wait) return false;
    }
  } finally {
    limits.dispose();
  }
}

function pathOf({ directory, name }: BarrierPlace): string {
  return `${directory.path}/${name}`;
}
