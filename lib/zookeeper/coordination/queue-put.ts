/**
 * Puts items into a queue. All items of one call are created in one transaction, so they follow each other directly.
 * Znodes: `queue-<number>` in the directory of the items, persistent and sequential, one per item.
 * Waiting: in a queue with a limit, each put waits for those before it. They have a wait queue of their own:
 * `_c_<uuid>-lock-<number>` in the directory of the putters. The first of them watches the items until there is room.
 * Lost replies: the id in the items' data shows, after a `sync`, whether they were put. If an item was taken and
 * removed before that look, it is put again, with the same id.
 * Session loss: items outlive sessions. The call continues with the next session, which looks for the id as well.
 * Source: ZooKeeper Recipes, "Queues"; the names and data are those of Curator's DistributedQueue.
 */
import { randomUUID } from 'node:crypto';
import { orAbort, withAnyAbort } from '../../async/abort.js';
import { orTimeout } from '../../async/timer.js';
import type { QueuePutRequest } from '../../contract/coordination-backend.js';
import { multiBelow } from '../recipes/create-node.js';
import { ITEM_MARK } from '../recipes/contender-znode.js';
import { CreateMode, isConnectionLoss, isKeeperError, KeeperError, SessionEndedError } from '../session/requests.js';
import type { MultiOp } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { unlessMissing } from '../session/watch.js';
import { untilSeen } from '../session/watched-directories.js';
import { isNumberEnding, itemData, itemsIn, readItemData } from './queue-place.js';
import type { QueuePlace } from './queue-place.js';
import { inTurn } from './turn.js';

const READS_AT_ONCE = 64;

/** One put, through as many connections and sessions as it takes to find out its result. */
export class QueuePut {
  readonly #place: QueuePlace;
  readonly #request: QueuePutRequest;
  readonly #ending: Set<string>;
  readonly #id = randomUUID();
  readonly #ops: readonly MultiOp[];
  #isInDoubt = false;

  /** @param ending the paths of queues whose sequence numbers are nearly used up */
  constructor(place: QueuePlace, request: QueuePutRequest, ending: Set<string>) {
    this.#place = place;
    this.#request = request;
    this.#ending = ending;
    const { path, acl } = place.items;
    this.#ops = request.payloads.map((payload, index) => ({
      type: 'create',
      path: `${path}/${ITEM_MARK}`,
      data: itemData(payload, request.payloads.length === 1 ? this.#id : `${this.#id}/${index}`),
      acl,
      flags: CreateMode.persistentSequential,
    }));
  }

  /** Whether the put was sent and its result is unknown. Then the call must not report that there was no room. */
  get isInDoubt(): boolean {
    return this.#isInDoubt;
  }

  /** @throws KeeperError, SessionEndedError, `signal.reason` */
  on(session: Session, signal: AbortSignal): Promise<boolean> {
    return withAnyAbort([signal, session.signal], async (limit) => {
      return (this.#isInDoubt && (await this.#wasPut(session, limit))) || this.#put(session, limit);
    });
  }

  async #put(session: Session, signal: AbortSignal): Promise<boolean> {
    const { maxItems, wait, payloads, key } = this.#request;
    if (!(await this.#hasNumbers(session, signal))) return false;
    if (maxItems === undefined) return this.#send(session, signal);
    const isPut = await inTurn(session, this.#place.putters, { key, wait, signal }, async () => {
      const isRoom = await hasRoom(session, this.#place, { count: payloads.length, maxItems, wait }, signal);
      return isRoom && this.#send(session, signal);
    });
    return isPut ?? false;
  }

  async #hasNumbers(session: Session, signal: AbortSignal): Promise<boolean> {
    const { path } = this.#place.items;
    if (!this.#ending.has(path)) return true;
    const areRestarted = await restartNumbers(session, this.#place, this.#request.wait, signal);
    if (areRestarted) this.#ending.delete(path);
    return areRestarted;
  }

  async #send(session: Session, signal: AbortSignal): Promise<true> {
    const { items } = this.#place;
    for (;;) {
      await session.whenConnected(signal);
      this.#isInDoubt = true;
      try {
        const { results } = await this.#answered(multiBelow(session.requests, items, this.#ops), signal);
        const last = results.at(-1)?.path ?? '';
        if (isNumberEnding(last.slice(items.path.length + 1))) this.#ending.add(items.path);
        return true;
      } catch (error) {
        if (!isConnectionLoss(error)) throw error;
        if (await this.#wasPut(session, signal)) return true;
      }
    }
  }

  /**
   * Waits for the reply. If the signal aborts after the put was sent, the reply still counts if it is received soon.
   */
  async #answered<T>(sent: Promise<T>, signal: AbortSignal): Promise<T> {
    return orAbort(sent, signal).catch((error: unknown) => {
      const hasGivenUp = signal.aborted && error === signal.reason && !(error instanceof SessionEndedError);
      if (!hasGivenUp) throw this.#refused(error);
      return orTimeout(sent, this.#place.items.releaseTimeoutMs, () => error).catch((failure: unknown) => {
        this.#refused(failure);
        throw error;
      });
    });
  }

  /** Clears the doubt for an error of the servers: a refused put was not applied. */
  #refused(error: unknown): unknown {
    if (error instanceof KeeperError && !isConnectionLoss(error)) this.#isInDoubt = false;
    return error;
  }

  /** Looks for one of the items, the newest items first. If one was put, all were. */
  async #wasPut(session: Session, signal: AbortSignal): Promise<boolean> {
    const { path } = this.#place.items;
    const ask = <T>(request: () => Promise<T>) => session.persistently(request, signal);
    const list = () => Promise.all([session.requests.sync(path), session.requests.children(path)]);
    const [, names] = await unlessMissing(ask(list), [undefined, []]);
    const newestFirst = itemsIn(names).reverse();
    for (let at = 0; at < newestFirst.length; at += READS_AT_ONCE) {
      const some = newestFirst.slice(at, at + READS_AT_ONCE);
      const found = await ask(() => Promise.all(some.map((name) => this.#isOwn(session, `${path}/${name}`))));
      if (found.includes(true)) return true;
    }
    this.#isInDoubt = false;
    return false;
  }

  async #isOwn({ requests }: Session, path: string): Promise<boolean> {
    const found = await unlessMissing(requests.read(path), undefined);
    return found !== undefined && readItemData(found.data)?.id.startsWith(this.#id) === true;
  }
}

/**
 * Whether there is room for `count` more. With `wait` it resolves only once there is. Only for the caller whose turn it
 * is to put.
 */
async function hasRoom(
  session: Session,
  { items }: QueuePlace,
  { count, maxItems, wait }: { readonly count: number; readonly maxItems: number; readonly wait: boolean },
  signal: AbortSignal,
): Promise<boolean> {
  return untilSeen(session, [items.path], signal, async (names = []) => {
    if (itemsIn(names).length + count <= maxItems) return true;
    return wait ? undefined : false;
  });
}

/**
 * Restarts the sequence numbers of the queue: deletes its directory once it is empty, unless another process has done
 * so.
 * Returns `false` if the queue is not empty and the caller does not wait.
 */
export async function restartNumbers(
  session: Session,
  { items }: QueuePlace,
  wait: boolean,
  signal: AbortSignal,
): Promise<boolean> {
  return untilSeen(session, [items.path], signal, async (all = []) => {
    const names = itemsIn(all);
    if (names.some(isNumberEnding)) return wait ? undefined : false;
    return names.length > 0 || (await isRemoved(session, items.path, signal)) || undefined;
  });
}

async function isRemoved(session: Session, path: string, signal: AbortSignal): Promise<boolean> {
  try {
    await session.persistently(() => session.requests.delete(path), signal);
  } catch (error) {
    if (isKeeperError(error, 'notEmpty')) return false;
    if (!isKeeperError(error, 'noNode')) throw error;
  }
  return true;
}
