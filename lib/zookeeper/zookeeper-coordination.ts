import { orAbort } from '../async/abort.js';
import type {
  Barriers,
  Cell,
  CellChange,
  Cells,
  CellWrite,
  CoordinationBackend,
  EnteredMember,
  EnterRequest,
  PassRequest,
  QueuePutRequest,
  Queues,
  QueueTakeRequest,
  TakenItem,
} from '../contract/coordination-backend.js';
import { LockLostError } from '../contract/errors.js';
import { nameOf } from '../contract/lock-request.js';
import type { Call } from '../sessions/backend-sessions.js';
import { inDoubt } from '../sessions/backend-sessions.js';
import { BarrierExit } from './coordination/barrier-exit.js';
import { Lifting, passBarrier, raiseBarrier } from './coordination/barrier.js';
import type { BarrierPlace } from './coordination/barrier.js';
import { CellWriting, nextCell, readCell } from './coordination/cell.js';
import type { CellPlace } from './coordination/cell.js';
import { enterTogether } from './coordination/double-barrier.js';
import { itemsIn, queuePlace } from './coordination/queue-place.js';
import type { QueuePlace } from './coordination/queue-place.js';
import { QueuePut } from './coordination/queue-put.js';
import { takeItems } from './coordination/queue-take.js';
import { NodePaths } from './node-paths.js';
import type { Contender } from './recipes/contender.js';
import { NodeDeletedError } from './recipes/held-nodes.js';
import type { LockDirectory } from './recipes/lock-directory.js';
import { grantLease } from './recipes/zookeeper-lease.js';
import { inSession } from './session-retry.js';
import type { SessionSupervisor } from './session/session-supervisor.js';
import type { Session } from './session/session.js';
import { unlessMissing } from './session/watch.js';
import type { ResolvedZooKeeperOptions } from './zookeeper.options.js';

/** Queues, barriers and shared values in ZooKeeper, over the same session as the locks. */
export class ZooKeeperCoordination implements CoordinationBackend {
  readonly queues: ZooKeeperQueues;
  readonly barriers: ZooKeeperBarriers;
  readonly cells: ZooKeeperCells;

  constructor(sessions: SessionSupervisor, options: ResolvedZooKeeperOptions) {
    this.queues = new ZooKeeperQueues(sessions, options);
    this.barriers = new ZooKeeperBarriers(sessions, options);
    this.cells = new ZooKeeperCells(sessions, options);
  }
}

/** Barriers and double barriers as znodes. A call is repeated on the next session when its session ends. */
class ZooKeeperBarriers implements Barriers {
  readonly #sessions: SessionSupervisor;
  readonly #places: NodePaths;

  constructor(sessions: SessionSupervisor, options: ResolvedZooKeeperOptions) {
    this.#sessions = sessions;
    this.#places = new NodePaths(options);
  }

  async raise(key: string, signal: AbortSignal, name = key): Promise<void> {
    const place = this.#placeOf(key);
    return inSession(this.#sessions, { key, name, wait: false, signal }, (session, limit) =>
      raiseBarrier(session, place, limit),
    );
  }

  async lift(key: string, signal: AbortSignal, name = key): Promise<void> {
    const lifting = new Lifting(this.#placeOf(key));
    return inSession(this.#sessions, { key, name, wait: false, signal }, (session, limit) =>
      lifting.on(session, limit),
    );
  }

  async pass(request: PassRequest): Promise<boolean> {
    const place = this.#placeOf(request.key);
    const { wait } = request;
    return inSession(this.#sessions, request, (session, signal) => passBarrier(session, place, { wait, signal }));
  }

  async enter(request: EnterRequest): Promise<EnteredMember> {
    const directory = this.#places.directory('double-barriers', request.key);
    return inSession(this.#sessions, { ...request, wait: true }, async (session, signal) => {
      const member = await enterTogether(session, directory, { ...request, signal });
      return this.#entered(session, directory, member, request);
    });
  }

  #entered(session: Session, directory: LockDirectory, member: Contender, request: EnterRequest): EnteredMember {
    const key = nameOf(request);
    // This is the mode of leases that others hold at the same time.
    const lease = grantLease(session, directory, member, { ...request, mode: 'read', line: 'none', wait: true });
    const leave = async (signal: AbortSignal): Promise<void> => {
      if (!lease.isHeld()) throw isOut(key);
      try {
        await this.#leave(session, new BarrierExit(directory, member), { key, signal });
      } finally {
        await lease.release();
      }
    };
    return { lease, leave };
  }

  async #leave(own: Session, leaving: BarrierExit, call: Pick<Call, 'key' | 'signal'>): Promise<void> {
    await inSession(this.#sessions, { ...call, wait: true }, async (session, signal) => {
      if (session !== own && !leaving.isOut) throw isOut(call.key);
      await leaving.on(session, signal).catch((error: unknown) => {
        throw error instanceof NodeDeletedError ? isOut(call.key) : error;
      });
    });
  }

  #placeOf(key: string): BarrierPlace {
    return this.#places.node('barriers', key);
  }
}

function isOut(key: string): LockLostError {
  return new LockLostError(key, 'the others were told that this one had left');
}

/** Shared values as znodes. A call is repeated on the next session when its session ends. */
class ZooKeeperCells implements Cells {
  readonly #sessions: SessionSupervisor;
  readonly #places: NodePaths;

  constructor(sessions: SessionSupervisor, options: ResolvedZooKeeperOptions) {
    this.#sessions = sessions;
    this.#places = new NodePaths(options);
  }

  async read(key: string, signal: AbortSignal, name = key): Promise<Cell | undefined> {
    const { path } = this.#placeOf(key);
    return inSession(this.#sessions, { key, name, wait: false, signal }, (session, limit) =>
      readCell(session, path, limit),
    );
  }

  async write(key: string, change: CellChange, signal: AbortSignal, name = key): Promise<CellWrite> {
    const writing = new CellWriting(name, this.#placeOf(key), change);
    const written = inSession(this.#sessions, { key, name, wait: false, signal }, (session, limit) =>
      orAbort(writing.on(session, limit), limit),
    );
    return written.catch((error: unknown) => {
      throw writing.isInDoubt ? inDoubt(error, `whether "${name}" was written`, name) : error;
    });
  }

  async next(key: string, seen: Cell | undefined, signal: AbortSignal, name = key): Promise<Cell | undefined> {
    const { path } = this.#placeOf(key);
    return inSession(this.#sessions, { key, name, wait: true, signal }, (session, limit) =>
      nextCell(session, path, seen, limit),
    );
  }

  #placeOf(key: string): CellPlace {
    const { directory, name } = this.#places.node('values', key);
    return { path: `${directory.path}/${name}`, directory, marks: this.#places.ofWrites };
  }
}

/** Queues as znodes. A call is repeated on the next session when its session ends. */
class ZooKeeperQueues implements Queues {
  readonly #sessions: SessionSupervisor;
  readonly #places: NodePaths;
  /** The queues whose sequence numbers are nearly used up. */
  readonly #ending = new Set<string>();

  constructor(sessions: SessionSupervisor, options: ResolvedZooKeeperOptions) {
    this.#sessions = sessions;
    this.#places = new NodePaths(options);
  }

  async put(request: QueuePutRequest): Promise<boolean> {
    const key = nameOf(request);
    const put = new QueuePut(this.#placeOf(request.key), request, this.#ending);
    const isPut = inSession(this.#sessions, request, (session, signal) => put.on(session, signal));
    return isPut.catch((error: unknown) => {
      throw put.isInDoubt ? inDoubt(error, `whether it was put into "${key}"`, key) : error;
    });
  }

  async take(request: QueueTakeRequest): Promise<readonly TakenItem[]> {
    const place = this.#placeOf(request.key);
    return inSession(this.#sessions, request, (session, signal) => takeItems(session, place, { ...request, signal }));
  }

  async size(key: string, signal: AbortSignal, name = key): Promise<number> {
    const { path } = this.#placeOf(key).items;
    return inSession(this.#sessions, { key, name, wait: false, signal }, async (session, limit) => {
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
