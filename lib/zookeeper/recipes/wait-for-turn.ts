import { listenTo, orAbort, OwnAbortController } from '../../async/abort.js';
import type { AbortListener } from '../../async/abort.js';
import { now } from '../../async/clock.js';
import type { Place } from '../../async/collections.js';
import { limited, settledWithin } from '../../async/timer.js';
import type { GrantedLease } from '../../contract/granted-lease.js';
import type { LockRequest } from '../../contract/lock-request.js';
import type { Session } from '../session/session.js';
import { mayBeIdle, isNearTheEnd } from './contender-znode.js';
import type { ContenderName } from './contender-znode.js';
import { CounterEndingError } from './counter.js';
import type { LeaseNodes, NodesListener, OwnWatch } from './held-nodes.js';
import type { LockDirectory } from './lock-directory.js';
import { watchOwnNode } from './own-node-watch.js';
import type { Entry } from './protected-create.js';
import type { DeletionListener, WaitQueueView } from './wait-queue-view.js';
import { grantLease } from './zookeeper-lease.js';

// Maximum wait for the deletion of the own znode, when the acquisition is given up. After it the promise rejects, and
// the deletion continues in the background.
export const LEAVING_MS = 100;

/** A contender that has been created. */
interface Entered {
  readonly contender: LeaseNodes;
}

/**
 * The condition under which a recipe's contender may hold. One is made for each acquisition. Its duties:
 * - It throws a `CounterEndingError` when the contender's number `isNearTheEnd`. Such a contender never holds.
 * - It notices that the contender's own znode is deleted, which an event of another znode does not show. So it calls
 *   `watchOwnNode` before it waits, and `isNow` requires `isSet`. A turn that lists the children after each event looks
 *   for its own among them instead.
 * - `end` leaves its watches on other znodes. A second call has no effect.
 */
export interface Turn<E extends Entered = Entry> {
  /** Whether the contender may hold, as far as is known. */
  isNow(entry: E): boolean;
  /**
   * Resolves when `isNow` may have changed. Rejects when the wait is over. `undefined`: the request does not wait for
   * that.
   */
  change(entry: E, limit: WaitLimit): Promise<unknown> | undefined;
  /** Removes the watches that it has set. */
  end(): void;
}

/** One contender's wait for its turn. */
interface Turning<E extends Entered> extends Pick<LockDirectory, 'releaseTimeoutMs'>, Pick<LockRequest, 'signal'> {
  readonly entering: Promise<E>;
  readonly turn: Turn<E>;
}

/**
 * Waits for the turn, then grants a lease. `null` when it is not the contender's turn and the request does not wait.
 */
export function acquireEntered(
  session: Session,
  directory: LockDirectory,
  request: LockRequest,
  entering: Promise<Entry>,
  turn: Turn,
): Promise<GrantedLease | null> {
  const { releaseTimeoutMs } = directory;
  const { signal } = request;
  const grant = ({ contender, fastPath }: Entry) => {
    const { parsed } = contender;
    if (fastPath && parsed) contender.onLeft(() => fastPath.left(parsed.number));
    return grantLease(session, directory, contender, request);
  };
  return atTurn(session, { entering, turn, releaseTimeoutMs, signal }, grant);
}

/**
 * The steps that all recipes share once the create of the contender is sent. Waits for the turn, then returns what
 * `hold` returns. In all other cases the contender leaves the queue. `null` when it is not its turn and it does not
 * wait for it.
 */
export async function atTurn<E extends Entered, T>(
  session: Session,
  { entering, turn, releaseTimeoutMs, signal }: Turning<E>,
  hold: (entry: E) => T,
): Promise<T | null> {
  let contender: LeaseNodes | undefined;
  const limit = new WaitLimit(session, signal);
  try {
    const entry = await limit.race(entering);
    contender = entry.contender;
    // No `await` between this check and `hold`: a lease that is lost before it begins would be lost without notice.
    while (contender.isGone || !session.isProven || !turn.isNow(entry)) {
      limit.dependOn(contender);
      // An event may have been buffered while this process was paused. Nothing reports that, so the session must be
      // proven before the lease begins.
      const change = session.isProven ? turn.change(entry, limit) : limit.untilProven();
      if (!change) {
        turn.end();
        limit.end();
        await contender.leave(releaseTimeoutMs);
        return null;
      }
      await change;
    }
    signal.throwIfAborted();
    turn.end();
    limit.end();
    return hold(entry);
  } catch (error) {
    turn.end();
    limit.end();
    // When the caller gives up during the create, the contender leaves the queue as soon as it exists.
    const left = contender?.leave(LEAVING_MS) ?? entering.then((entry) => entry.contender.leave(LEAVING_MS));
    await settledWithin(left, LEAVING_MS);
    throw error;
  }
}

/**
 * The limit of one contender's wait. It ends the wait when the caller gives up, the session ends, or the contender's own
 * znode is deleted. One object with methods, because many contenders wait.
 */
export class WaitLimit implements AbortListener, NodesListener {
  /** Aborts when the caller gives up. Requests need no more: they end with their session. */
  readonly signal: AbortSignal;
  readonly #session: Session;
  readonly #caller: Place<AbortListener> | undefined;
  #sessionEnd: Place<AbortListener> | undefined;
  #nodes: LeaseNodes | undefined;
  #over: { readonly reason: unknown } | undefined;
  #resolve: (() => void) | undefined;
  #reject: ((reason: unknown) => void) | undefined;

  constructor(session: Session, signal: AbortSignal) {
    this.#session = session;
    this.signal = signal;
    this.#caller = listenTo(signal, this);
  }

  /**
   * From now on, the end of the session and the deletion of the znodes end the wait. Later calls only check it.
   * @throws the reason why the wait is over
   */
  dependOn(nodes: LeaseNodes): void {
    if (!this.#nodes) {
      this.#nodes = nodes;
      this.#sessionEnd = listenTo(this.#session.signal, this);
      nodes.listen(this);
    }
    if (this.#over) throw this.#over.reason;
  }

  /** Settles as the promise does, or rejects when the wait is over. Only the last call takes effect. */
  race<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      if (this.#over) reject(this.#over.reason);
      promise.then(resolve, reject);
    });
  }

  /** Resolves once the session is proven, or rejects when the wait is over. Only the last call takes effect. */
  async untilProven(): Promise<void> {
    const ended = new OwnAbortController();
    try {
      await this.race(this.#session.proven(ended.signal));
    } finally {
      // Otherwise a wait that is over would go on asking the servers for a proof.
      ended.abort();
    }
  }

  /** Resolves at the next call of `wake`, or rejects when the wait is over. Only the last call takes effect. */
  next(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      if (this.#over) reject(this.#over.reason);
    });
  }

  /** Lets the waiting contender look at its condition again. */
  wake(): void {
    this.#resolve?.();
  }

  aborted(reason: unknown): void {
    this.over(reason);
  }

  gone(reason: unknown): void {
    this.over(reason);
  }

  /** Ends the wait with this reason. */
  over(reason: unknown): void {
    if (this.#over) return;
    this.#over = { reason };
    this.#reject?.(reason);
  }

  /** Leaves no listener behind. */
  end(): void {
    this.#caller?.leave();
    this.#sessionEnd?.leave();
    this.#nodes?.listen(undefined);
  }
}

const LONGEST_GRACE_MS = 500;

type QueuedContender = Pick<Entry, 'contender' | 'tookMs'>;

/**
 * The turn of a contender that never waits, not even for a predecessor that leaves at once. It is first or has no turn.
 */
export function turnIfFirst(): Turn {
  return {
    isNow: isFirst,
    change({ contender }, limit) {
      if (isNearTheEnd(contender.parsed?.number)) throw new CounterEndingError(contender);
      const { queue } = contender;
      return queue.predecessors(contender) ? undefined : queue.look(contender, limit.signal);
    },
    end: () => {},
  };
}

/** Whether it is known that no contender is ahead, and numbers tell the order. */
function isFirst({ contender }: QueuedContender): boolean {
  return contender.queue.predecessors(contender)?.length === 0 && !isNearTheEnd(contender.parsed?.number);
}

/** Whether there is only one predecessor, and that one may hold a warm lease, which it releases at once. */
function mayGoAtOnce([nearest, second]: readonly ContenderName[]): boolean {
  return nearest !== undefined && second === undefined && mayBeIdle(nearest.name);
}

/**
 * The time in milliseconds that a predecessor needs to leave after an event: for its deletion and the event of that.
 */
function graceMs({ tookMs }: QueuedContender): number {
  return Math.min(3 * tookMs + 5, LONGEST_GRACE_MS);
}

/** A predecessor that is watched, and the place at its watch. */
interface Watched {
  readonly one: ContenderName;
  readonly place: Place<DeletionListener>;
}

const NONE: readonly Watched[] = [];

/**
 * The turn of a contender in a wait queue. All recipes with a wait queue share it.
 * The contender finds out its predecessors, watches the nearest, and finds out again after each event.
 * While the nearest still exists, the second is watched as well (look-ahead). When the second is deleted, the contender
 * finds out which others are deleted too. Nothing is left to ask when the nearest is deleted, so the turn comes with
 * that event itself.
 */
export class QueueTurn implements Turn, DeletionListener {
  readonly #session: Session;
  readonly #wait: boolean;
  /** The nearest predecessors, two at most. */
  #watched: readonly Watched[] = NONE;
  #limit: WaitLimit | undefined;
  #own: OwnWatch | undefined;
  /** Whether it has waited since it last found out its predecessors. */
  #hasWaited = false;
  /** The end of the time for which a request that does not wait lets a predecessor leave. */
  #graceEnd: number | undefined;

  /** @param wait `false`: the contender has its turn at once or not at all */
  constructor(session: Session, wait: boolean) {
    this.#session = session;
    this.#wait = wait;
  }

  /**
   * The predecessor's deletion does not show that our znode still exists, so it is watched as well. On one connection,
   * the event of our own deletion comes first. Exception: a predecessor of this session is passed once its deletion is
   * sent, without an event. Then this order does not hold, see docs/guarantees.md.
   */
  isNow(place: QueuedContender): boolean {
    return isFirst(place) && (this.#own?.isSet ?? true);
  }

  change(place: QueuedContender, limit: WaitLimit): Promise<unknown> | undefined {
    const { contender } = place;
    const { queue } = contender;
    if (isNearTheEnd(contender.parsed?.number)) throw new CounterEndingError(contender);
    const nearest = queue.predecessors(contender);
    if (!nearest) return queue.look(contender, limit.signal);
    if (nearest.length === 0) return this.#own && limit.race(this.#own.set);
    if (this.#wait) return this.#event(place, nearest, limit);
    this.#graceEnd ??= mayGoAtOnce(nearest) ? now() + graceMs(place) : -Infinity;
    const leftMs = this.#graceEnd - now();
    return leftMs > 0
      ? limited(leftMs, limit.signal, (signal) => orAbort(this.#event(place, nearest, limit), signal))
      : undefined;
  }

  end(): void {
    this.#watched.forEach(({ place }) => place.leave());
    this.#watched = NONE;
  }

  deleted({ name }: ContenderName, error?: unknown): void {
    this.#watched = this.#watched.filter(({ one }) => one.name !== name);
    if (error === undefined) this.#limit?.wake();
    else this.#limit?.over(error);
  }

  /** Resolves with the next event of the nearest predecessors, or when it is known which of them still exist. */
  #event(place: QueuedContender, nearest: readonly ContenderName[], limit: WaitLimit): Promise<void> {
    const { contender } = place;
    const { queue } = contender;
    if (this.#hasWaited && !nearest.every(({ name }) => queue.isWatched(name))) {
      this.#hasWaited = false;
      return queue.refresh(contender, limit.signal);
    }
    this.#hasWaited = true;
    this.#limit = limit;
    this.#own ??= watchOwnNode(this.#session, contender);
    this.#watchOnly(nearest, queue);
    // A contender of this session may have left just before it was watched.
    return isFirst(place) ? Promise.resolve() : limit.next();
  }

  /** Watches exactly these from now on. Existing watches on them are kept. */
  #watchOnly(predecessors: readonly ContenderName[], queue: WaitQueueView): void {
    const before = this.#watched;
    const watched = predecessors.map(
      (one) => before.find(({ one: { name } }) => name === one.name) ?? { one, place: queue.attend(one, this) },
    );
    this.#watched = watched;
    before.filter((one) => !watched.includes(one)).forEach(({ place }) => place.leave());
  }
}
