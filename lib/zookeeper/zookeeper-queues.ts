import type { QueuePutRequest, Queues, TakenItem, QueueTakeRequest } from '../contract/queues.js';
import { nameOf } from '../contract/keyed-request.js';
import { SessionCalls } from './across-sessions.js';
import { itemsIn, queuePlace } from './coordination/queue-place.js';
import type { QueuePlace } from './coordination/queue-place.js';
import { QueuePut } from './coordination/queue-put.js';
import { takeItems } from './coordination/queue-take.js';
import { inDoubt } from './explained-error.js';
import { Places } from './places.js';
import type { SessionSupervisor } from './session/session-supervisor.js';
import { unlessMissing } from './session/watch.js';
import type { ResolvedZooKeeperOptions } from './zookeeper.options.js';

/** Queues as znodes. What was asked of a session that ends is asked of the next one. */
export class ZooKeeperQueues implements Queues {
  readonly #calls: SessionCalls;
  readonly #places: Places;
  /** The queues whose numbers were seen to be nearly used up. */
  readonly #ending = new Set<string>();

  constructor(sessions: SessionSupervisor, options: ResolvedZooKeeperOptions) {
    this.#calls = new SessionCalls(sessions);
    this.#places = new Places(options);
  }

  async put(request: QueuePutRequest): Promise<boolean> {
    const key = nameOf(request);
    const put = new QueuePut(this.#placeOf(request.key), request, this.#ending);
    const isPut = this.#calls.make(request, (session, signal) => put.on(session, signal));
    return isPut.catch((error: unknown) => {
      throw put.isInDoubt ? inDoubt(error, `whether it was put into "${key}"`, key) : error;
    });
  }

  async take(request: QueueTakeRequest): Promise<readonly TakenItem[]> {
    const place = this.#placeOf(request.key);
    return this.#calls.make(request, (session, signal) => takeItems(session, place, { ...request, signal }));
  }

  async size(key: string, signal: AbortSignal, name = key): Promise<number> {
    const { path } = this.#placeOf(key).items;
    return this.#calls.make({ key, name, wait: false, signal }, async (session, limit) => {
      const { requests } = session;
      const look = () => Promise.all([requests.sync(path), unlessMissing(requests.children(path), [])]);
      const [, names] = await session.persistently(look, limit);
      return itemsIn(names).length;
    });
  }

  #placeOf(key: string): QueuePlace {
    const { path, ...making } = this.#places.directory('queues', key);
    return queuePlace(path, key.startsWith('/'), making);
  }
}
