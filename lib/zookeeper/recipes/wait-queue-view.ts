import { LinkedList, StringMap } from '../../async/collections.js';
import type { Place } from '../../async/collections.js';
import { LoopBudget } from '../../async/timer.js';
import { isConnectionLoss, isKeeperError } from '../session/requests.js';
import type { NodeWatch, Watcher, WatchEvent } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { unlessMissing } from '../session/watch.js';
import { queueOf } from './contender-znode.js';
import type { ContenderKind, QueueKind, ContenderName } from './contender-znode.js';
import { CreateBatching } from './shortcuts/create-batching.js';
import { NodeDeletedError } from './held-nodes.js';
import { keyDirectoriesOf } from './key-directories.js';
import { WaitQueueSnapshot } from './wait-queue-snapshot.js';

/** A contender of this session. */
interface Member {
  readonly name: string;
  readonly path: string;
  /** Its place by its name. `undefined`: the name is not one of a wait queue. */
  readonly parsed: ContenderName | undefined;
}

// Listing costs the servers and the wire about as much as one read per `NAMES_A_READ` names, at least `FEWEST_READS`.
const NAMES_A_READ = 16;
const FEWEST_READS = 2;
const NONE: readonly string[] = [];

/**
 * One session's view of one wait queue: the contenders of the last listing, less those that were seen to be deleted
 * since. All contenders of the session share it, so what one of them has found out is not requested again.
 *
 * When all contenders before it are deleted, a contender has its turn without a new listing. There are four exceptions,
 * in which the children are listed:
 * - The connection was lost since the last listing. Events that fire on a reconnect arrive in no order, and before the
 *   reply to anything that is requested then. After a new listing, events are in order again.
 * - A writer of another process left. Curator's may have become a reader with the writer's number, ahead of the queue.
 * - The event is not a deletion.
 * - The contender is not in the list.
 */
export class WaitQueueView {
  readonly #session: Session;
  /** The directory. */
  readonly path: string;
  readonly #kind: QueueKind;
  readonly #budget: LoopBudget;
  readonly #own = new StringMap<Member>();
  /** The own contenders whose deletion is under way. Their znodes may still be listed. */
  readonly #leaving = new StringMap<Member>();
  /** Decides when the next contenders of this session are created. */
  readonly createBatching = new CreateBatching();
  readonly #deletionWatches = new StringMap<DeletionWatch>();
  #names: readonly string[] | undefined;
  #snapshot: WaitQueueSnapshot | undefined;
  #epoch = -1;

  /** @param budget limits the hand-overs among this session's contenders in one turn of the event loop */
  constructor(session: Session, path: string, kind: QueueKind, budget: LoopBudget) {
    this.#session = session;
    this.path = path;
    this.#kind = kind;
    this.#budget = budget;
  }

  /** Adds a contender of this session. */
  joined(contender: Member): void {
    this.#own.set(contender.name, contender);
    const kind = contender.parsed?.kind;
    this.createBatching.joined(contender.name, kind === 'lock' || kind === 'write');
  }

  /**
   * Called when a contender will never hold again and its deletion is under way. Contenders of this session behind it
   * do not wait for the deletion, unless this turn of the event loop has done too much already. Contenders of other
   * sessions do wait.
   */
  leaving(contender: Member): void {
    // First, so that creates which this releases share the transaction of the deletion.
    this.createBatching.leaving(contender.name);
    if (this.#budget.isLong || this.#own.get(contender.name) !== contender) return;
    this.#budget.step();
    this.#leaving.set(contender.name, contender);
    this.#gone(contender, 'left');
  }

  /** Called when the znode cannot be deleted after all. Contenders that have not passed it by then wait behind it. */
  stays(contender: Member): void {
    if (this.#leaving.delete(contender.name)) this.#forget();
    this.createBatching.leaving(contender.name);
  }

  /**
   * Called when the contender was deleted, or was found to be gone. Then another znode may be at the same path. Returns
   * whether this session has no contender left in the queue.
   */
  parted(contender: Member, how: 'left' | 'unknown'): boolean {
    if (this.#own.get(contender.name) === contender) {
      this.#gone(contender, how);
      this.#own.delete(contender.name);
      this.#leaving.delete(contender.name);
      this.createBatching.leaving(contender.name);
    }
    return this.#own.size === 0;
  }

  /** Called when a contender of this session continues with another znode, which is in no listing yet. */
  moved(contender: Member, from: string): void {
    this.joined(contender);
    this.#forget();
    this.#deletionWatches.get(from)?.end('left');
    this.#own.delete(from);
    this.createBatching.leaving(from);
  }

  /** Records a new listing of the children. */
  saw(names: readonly string[]): void {
    if (names === this.#names) return;
    this.#names = names;
    this.#snapshot = new WaitQueueSnapshot(names, this.#kind);
    if (this.#leaving.size > 0) this.#leaving.values.forEach(({ parsed }) => parsed && this.#snapshot?.left(parsed));
    this.#epoch = this.#session.epoch;
  }

  /** Whether the last listing showed one contender and no other. */
  get isOfOne(): boolean {
    return this.#snapshot?.inOrder.length === 1;
  }

  /**
   * The contenders to watch, nearest first. Empty when it is this contender's turn. `undefined` when the view is not
   * valid for it: the children have to be listed.
   */
  predecessors({ parsed }: Member): ContenderName[] | undefined {
    const snapshot = this.#epoch === this.#session.epoch && this.#snapshot;
    return snapshot && parsed ? snapshot.predecessors(parsed) : undefined;
  }

  /** Lists the children. @throws NodeDeletedError when the contender is not among them, `signal.reason` */
  async look(contender: Member, signal: AbortSignal): Promise<void> {
    const listed = this.#session.persistently(() => this.#session.requests.children(this.path), signal);
    const names = await unlessMissing(listed, NONE);
    if (!names.includes(contender.name)) throw new NodeDeletedError(contender.path);
    this.saw(names);
  }

  /**
   * Finds out which contenders ahead were deleted without notice: by a listing, or by single reads where that is less.
   */
  async refresh(contender: Member, signal: AbortSignal): Promise<void> {
    const most = Math.max(FEWEST_READS, Math.floor((this.#snapshot?.inOrder.length ?? 0) / NAMES_A_READ));
    const atMost = most + this.#deletionWatches.size + this.#own.size + 1;
    const ahead = contender.parsed && this.#snapshot?.ahead(contender.parsed, atMost);
    const unseen = ahead?.filter(({ name }) => !this.isWatched(name)) ?? [];
    if (unseen.length > most) return this.look(contender, signal);
    await Promise.all(unseen.map((one) => this.#ask(one, signal)));
  }

  /** Whether this contender's deletion will be noticed. */
  isWatched(name: string): boolean {
    return this.#own.has(name) || this.#deletionWatches.has(name);
  }

  /**
   * Calls `listener.deleted` once: when the contender is deleted, when the watch is lost, or with the error that
   * prevents the watch. Leaving the place cancels it.
   */
  attend(one: ContenderName, listener: DeletionListener): Place<DeletionListener> {
    const known = this.#deletionWatches.get(one.name);
    if (known) return known.join(listener);
    const deletionWatch = new DeletionWatch(this.#session, this, one, this.#own.has(one.name));
    this.#deletionWatches.set(one.name, deletionWatch);
    if (!deletionWatch.isOwn) deletionWatch.watch();
    return deletionWatch.join(listener);
  }

  /** @internal Called when a deletion watch has ended. */
  ended({ one, isOwn }: DeletionWatch, how: DeletionWatchEnd): void {
    this.#deletionWatches.delete(one.name);
    // A contender of this session reports its own deletion.
    if (isOwn) return;
    if (how === 'left') this.#left(one);
    if (how === 'unknown') this.#forget();
  }

  /** A contender of this session is gone. */
  #gone({ name, parsed }: Member, how: 'left' | 'unknown'): void {
    if (how === 'unknown') this.#forget();
    else if (parsed) this.#snapshot?.left(parsed);
    this.#deletionWatches.get(name)?.end(how);
  }

  /** A contender of another session is deleted. */
  #left(one: ContenderName): void {
    if (one.kind === 'write') this.#forget();
    else this.#snapshot?.left(one);
  }

  #forget(): void {
    this.#snapshot = undefined;
    this.#names = undefined;
  }

  async #ask(one: ContenderName, signal: AbortSignal): Promise<void> {
    const asked = this.#session.persistently(() => this.#session.requests.read(`${this.path}/${one.name}`), signal);
    await asked.catch((error: unknown) => {
      if (!isKeeperError(error, 'noNode')) throw error;
      this.#left(one);
    });
  }
}

/** A session's views by kind and path. Wait queues of different kinds may have the same path, and are independent. */
interface QueueViews extends Record<QueueKind, StringMap<WaitQueueView>> {
  readonly budget: LoopBudget;
}

const queuesBySession = new WeakMap<Session, QueueViews>();

function noQueues(): QueueViews {
  return { locks: new StringMap(), candidates: new StringMap(), budget: new LoopBudget() };
}

/**
 * Adds a contender to its session's view of the wait queue, and returns the view. It is dropped when the session's last
 * contender has left.
 */
export function joinQueue(session: Session, path: string, contender: Member): WaitQueueView {
  const queues = queuesBySession.get(session) ?? noQueues();
  queuesBySession.set(session, queues);
  const kind = queueOf(contender.parsed?.kind);
  const queue = queues[kind].get(path) ?? new WaitQueueView(session, path, kind, queues.budget);
  queues[kind].set(path, queue);
  keyDirectoriesOf(session).use(path);
  queue.joined(contender);
  return queue;
}

/** Removes a contender that was deleted, or was found to be gone. */
export function leaveQueue(session: Session, path: string, contender: Member, how: 'left' | 'unknown'): void {
  const kind = queueOf(contender.parsed?.kind);
  const queues = queuesBySession.get(session)?.[kind];
  const queue = queues?.get(path);
  if (!queue?.parted(contender, how)) return;
  queues?.delete(path);
  // Directories of elections stay: processes that look for the leader watch them.
  if (kind === 'locks') keyDirectoriesOf(session).leave(path);
}

/** The batching of creates for this kind of contenders. `undefined` while the session has none in that queue. */
export function createBatchingAt(session: Session, path: string, kind: ContenderKind): CreateBatching | undefined {
  return queuesBySession.get(session)?.[queueOf(kind)].get(path)?.createBatching;
}

/** An object that waits for a contender to be deleted. */
export interface DeletionListener {
  /** Called once, with an error when the znode cannot be watched. */
  deleted(one: ContenderName, error?: unknown): void;
}

/**
 * The ways in which a `DeletionWatch` ends:
 * - `left`: the znode is deleted.
 * - `unknown`: nothing is known about it any more.
 * - `refused`: it may not be watched.
 * - `let go`: no listener is left.
 */
type DeletionWatchEnd = 'left' | 'unknown' | 'refused' | 'let go';

/** One watch for all contenders of this session that wait for one contender to be deleted. It ends with the last one. */
class DeletionWatch extends LinkedList<DeletionListener> implements Watcher {
  readonly one: ContenderName;
  /** Whether it is a contender of this session. */
  readonly isOwn: boolean;
  readonly #session: Session;
  readonly #queue: WaitQueueView;
  #watch: NodeWatch | undefined;
  #isOver = false;

  constructor(session: Session, queue: WaitQueueView, one: ContenderName, isOwn: boolean) {
    super();
    this.#session = session;
    this.#queue = queue;
    this.one = one;
    this.isOwn = isOwn;
  }

  override remove(...[link]: Parameters<LinkedList<DeletionListener>['remove']>): void {
    super.remove(link);
    if (this.size === 0) this.end('let go');
  }

  /** Sets the watch at the servers. */
  watch(): void {
    this.#session.requests.watch(`${this.#queue.path}/${this.one.name}`).then(
      (watch) => {
        if (this.#isOver) return watch.remove();
        this.#watch = watch;
        watch.listen(this);
      },
      (error: unknown) => this.#unwatched(error),
    );
  }

  /** Ends the watch and notifies the listeners, with an error if there is one. A second call has no effect. */
  end(how: DeletionWatchEnd, error?: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#watch?.remove();
    this.#queue.ended(this, how);
    while (this.size > 0) this.shift()?.deleted(this.one, error);
  }

  happened(event: WatchEvent): void {
    this.#watch = undefined;
    if (this.#isOver) return;
    // Events that fire on a reconnect are in no order, and say nothing about other contenders: the children are
    // listed first.
    if (event === 'deleted') this.end('left');
    else if (event === 'changed') this.watch();
    else this.end('unknown');
  }

  #unwatched(error: unknown): void {
    if (isKeeperError(error, 'noNode')) this.end('left');
    else if (isConnectionLoss(error)) this.end('unknown');
    else this.end('refused', error);
  }
}
