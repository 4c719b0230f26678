import { onAbort, orAbort, OwnAbortController } from '../../async/abort.js';
import type { Dispose } from '../../async/abort.js';
import { now } from '../../async/clock.js';
import { deferred } from '../../async/deferred.js';
import { limited, settledWithin } from '../../async/timer.js';
import type { GrantedLease } from '../../contract/granted-lease.js';
import type { LockRequest } from '../../contract/lock-request.js';
import type { Session } from '../session/session.js';
import { mayBeIdle } from './contender-name.js';
import type { ContenderName } from './contender-name.js';
import { CounterEndingError, isNearTheEnd } from './counter.js';
import type { Contender } from './contender.js';
import type { LeaseNodes } from './held-nodes.js';
import type { LockDirectory } from './lock-directory.js';
import { watchOwnNode } from './own-node-watch.js';
import type { OwnNodeWatch } from './own-node-watch.js';
import type { Entry } from './protected-create.js';
import type { WaitQueueView } from './wait-queue-view.js';
import { grantLease } from './zookeeper-lease.js';

// Maximum wait for the deletion of the own znode, when the acquisition is given up. After it the promise rejects, and
// the deletion continues in the background.
export const LEAVING_MS = 100;

/** A contender that has been created. */
interface Entered {
  readonly contender: LeaseNodes;
}

/** The condition under which a recipe's contender may hold. One is made for each acquisition. */
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
  let limit: WaitLimit | undefined;
  const stop = () => {
    turn.end();
    limit?.end();
  };
  try {
    const entry = await orAbort(entering, signal);
    contender = entry.contender;
    // No `await` between this check and `hold`: a lease that is lost before it begins would be lost without notice.
    while (contender.isGone || !session.isProven || !turn.isNow(entry)) {
      limit ??= new WaitLimit(session, contender, signal);
      limit.throwIfOver();
      // An event may have been buffered while this process was paused. Nothing reports that, so the session is proven.
      const change = session.isProven ? turn.change(entry, limit) : session.proven(limit.signal);
      if (!change) {
        stop();
        return await contender.leave(releaseTimeoutMs).then(() => null);
      }
      await change;
    }
    signal.throwIfAborted();
    stop();
    return hold(entry);
  } catch (error) {
    stop();
    // When the caller gives up during the create, the contender leaves the queue as soon as it exists.
    const left = contender?.leave(LEAVING_MS) ?? entering.then((entry) => entry.contender.leave(LEAVING_MS));
    await settledWithin(left, LEAVING_MS);
    throw error;
  }
}

/** Ends a wait when the caller gives up, the session ends, or the contender's own znode is deleted. */
export class WaitLimit {
  readonly #contender: LeaseNodes;
  readonly #stopCaller: Dispose;
  readonly #stopSession: Dispose;
  #over: { readonly reason: unknown } | undefined;
  #onOver: ((reason: unknown) => void) | undefined;
  #controller: OwnAbortController | undefined;

  constructor(session: Session, contender: LeaseNodes, signal: AbortSignal) {
    this.#contender = contender;
    const over = (reason: unknown) => this.#isOver(reason);
    this.#stopCaller = onAbort(signal, over);
    this.#stopSession = onAbort(session.signal, over);
    contender.onGone(over);
  }

  /** Aborts when the wait is over. Most waits need no signal. */
  get signal(): AbortSignal {
    this.#controller ??= new OwnAbortController();
    if (this.#over) this.#controller.abort(this.#over.reason);
    return this.#controller.signal;
  }

  /** @throws the reason why the wait is over */
  throwIfOver(): void {
    if (this.#over) throw this.#over.reason;
  }

  /** Calls back when the wait is over. There is one such listener. */
  onOver(listener: (reason: unknown) => void): void {
    this.#onOver = listener;
  }

  end(): void {
    this.#stopCaller();
    this.#stopSession();
    this.#contender.onGone(undefined);
  }

  #isOver(reason: unknown): void {
    if (this.#over) return;
    this.#over = { reason };
    this.#onOver?.(reason);
    this.#controller?.abort(reason);
  }
}

const LONGEST_GRACE_MS = 500;

type QueuedContender = Pick<Entry, 'contender' | 'queue' | 'tookMs'>;

/**
 * The turn of a contender in a wait queue. All recipes with a wait queue share it.
 * @param wait `false`: the contender has its turn at once or not at all
 */
export function turnInQueue(session: Session, wait: boolean): Turn {
  return new QueueTurn(session, wait);
}

/**
 * The turn of a contender that never waits, not even for a predecessor that leaves at once. It is first or has no turn.
 */
export function turnIfFirst(): Turn {
  return {
    isNow: isFirst,
    change({ contender, queue }, limit) {
      mustHaveValidNumber(contender);
      return queue.predecessors(contender) ? undefined : queue.look(contender, limit.signal);
    },
    end: () => {},
  };
}

/** Whether it is known that no contender is ahead, and numbers tell the order. */
function isFirst({ contender, queue }: QueuedContender): boolean {
  return queue.predecessors(contender)?.length === 0 && !isNearTheEnd(contender.parsed?.number);
}

function mustHaveValidNumber(contender: Contender): void {
  if (isNearTheEnd(contender.parsed?.number)) throw new CounterEndingError(contender);
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

/**
 * The contender finds out its predecessors, watches the nearest, and finds out again after each event.
 * While the nearest still exists, the second is watched as well (look-ahead). When the second is deleted, the contender
 * finds out which others are deleted too. Nothing is left to ask when the nearest is deleted, so the turn comes with
 * that event itself.
 */
class QueueTurn implements Turn {
  readonly #session: Session;
  readonly #wait: boolean;
  #watched: WatchedPredecessors | undefined;
  #own: OwnNodeWatch | undefined;
  /** Whether there was an event since the predecessors were found out. */
  #isStale = false;
  /** The end of the time for which a request that does not wait lets a predecessor leave. */
  #graceEnd: number | undefined;

  constructor(session: Session, wait: boolean) {
    this.#session = session;
    this.#wait = wait;
  }

  /**
   * The predecessor's deletion event says nothing about our own znode, so our own is watched too. On one connection the
   * event of our own comes first. (A predecessor of this session leaves without another event; see docs/guarantees.md.)
   */
  isNow(place: QueuedContender): boolean {
    return isFirst(place) && (this.#own?.isSet ?? true);
  }

  change(place: QueuedContender, limit: WaitLimit): Promise<unknown> | undefined {
    const { contender, queue } = place;
    mustHaveValidNumber(contender);
    const nearest = queue.predecessors(contender);
    if (!nearest) return queue.look(contender, limit.signal);
    if (nearest.length === 0) return this.#own && orAbort(this.#own.set, limit.signal);
    if (this.#wait) return this.#event(place, nearest, limit);
    this.#graceEnd ??= mayGoAtOnce(nearest) ? now() + graceMs(place) : -Infinity;
    const leftMs = this.#graceEnd - now();
    return leftMs > 0
      ? limited(leftMs, limit.signal, (signal) => orAbort(this.#event(place, nearest, limit), signal))
      : undefined;
  }

  end(): void {
    this.#watched?.dispose();
    this.#watched = undefined;
  }

  /** Resolves with the next event of the nearest predecessors, or when it is known which of them are left. */
  #event(place: QueuedContender, nearest: readonly ContenderName[], limit: WaitLimit): Promise<void> {
    const { queue, contender } = place;
    if (this.#isStale && !nearest.every(({ name }) => queue.isWatched(name))) {
      this.#isStale = false;
      return queue.refresh(contender, limit.signal);
    }
    this.#isStale = true;
    this.#watched ??= new WatchedPredecessors(queue, limit);
    this.#own ??= watchOwnNode(this.#session, contender);
    const news = this.#watched.news();
    this.#watched.only(nearest);
    // A contender of this session may have left just before it was watched.
    return isFirst(place) ? Promise.resolve() : news;
  }
}

/** The predecessors that one contender watches. */
class WatchedPredecessors {
  readonly #queue: WaitQueueView;
  readonly #watched = new Map<string, Dispose>();
  #news = deferred();
  #failure: { readonly error: unknown } | undefined;

  constructor(queue: WaitQueueView, limit: WaitLimit) {
    this.#queue = queue;
    limit.onOver((reason) => this.#fail(reason));
  }

  /** Watches exactly these from now on. Existing watches on them are kept. */
  only(predecessors: readonly ContenderName[]): void {
    for (const one of predecessors) this.#watch(one);
    for (const [watched, dispose] of this.#watched) {
      if (predecessors.some(({ name }) => name === watched)) continue;
      this.#watched.delete(watched);
      dispose();
    }
  }

  /** Resolves with the next event. Rejects with why one cannot be watched, or with the signal's reason. */
  news(): Promise<void> {
    this.#news = deferred();
    // The rejection is awaited later, or not at all.
    this.#news.promise.catch(() => {});
    if (this.#failure) this.#news.reject(this.#failure.error);
    return this.#news.promise;
  }

  dispose(): void {
    this.#watched.forEach((undo) => undo());
    this.#watched.clear();
  }

  #watch(one: ContenderName): void {
    const { name } = one;
    if (this.#watched.has(name)) return;
    const dispose = this.#queue.attend(one, (error) => {
      this.#watched.delete(name);
      if (error === undefined) this.#news.resolve();
      else this.#fail(error);
    });
    this.#watched.set(name, dispose);
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#news.reject(error);
  }
}
