import { onAbort, orAbort, putBack, takeController } from '../../async/abort.js';
import type { Dispose } from '../../async/abort.js';
import { deferred } from '../../async/deferred.js';
import { limited, settledWithin } from '../../async/timer.js';
import type { GrantedLease } from '../../contract/granted-lease.js';
import type { LockRequest } from '../../contract/lock-request.js';
import type { Session } from '../session/session.js';
import { mayBeIdle, numberOf } from './contender-name.js';
import type { ContenderName } from './contender-name.js';
import { CounterEndingError, isCounterEnding } from './counter.js';
import type { LeaseNodes } from './held-nodes.js';
import type { LockDirectory } from './lock-directory.js';
import { watchOwnNode } from './own-node-watch.js';
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

/** The condition under which a recipe's contender may hold. */
export interface Turn<E extends Entered = Entry> {
  /** Whether it may hold already, as far as is known without waiting. */
  isNow(entry: E): boolean;
  /** Resolves to whether it is the contender's turn. Rejects with `signal.reason`, leaving no watch. */
  comes(entry: E, signal: AbortSignal): Promise<boolean>;
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
    const number = numberOf(contender.name);
    if (fastPath && number !== undefined) contender.onLeft(() => fastPath.left(number));
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
  try {
    const entry = await orAbort(entering, signal);
    contender = entry.contender;
    let isTurn = turn.isNow(entry);
    // No `await` between this check and `hold`: a lease that is lost before it begins would be lost without notice.
    while (!isTurn || !session.isProven || contender.isGone) {
      isTurn = await untilProvenTurn(session, entry, signal, turn);
      if (!isTurn) return await contender.leave(releaseTimeoutMs).then(() => null);
    }
    signal.throwIfAborted();
    return hold(entry);
  } catch (error) {
    // When the caller gives up during the create, the contender leaves the queue as soon as it exists.
    const left = contender?.leave(LEAVING_MS) ?? entering.then((entry) => entry.contender.leave(LEAVING_MS));
    await settledWithin(left, LEAVING_MS);
    throw error;
  }
}

async function untilProvenTurn<E extends Entered>(
  session: Session,
  entry: E,
  signal: AbortSignal,
  turn: Turn<E>,
): Promise<boolean> {
  const limit = takeController();
  const end = (reason: unknown) => limit.abort(reason);
  const unlisten = [signal, session.signal].map((source) => onAbort(source, end));
  entry.contender.onGone(end);
  try {
    if (!(await turn.comes(entry, limit.signal))) return false;
    // The event may have been buffered while this process was paused. Nothing reports that, so the session is proven
    // now.
    await session.proven(limit.signal);
    limit.signal.throwIfAborted();
  } finally {
    unlisten.forEach((undo) => undo());
    entry.contender.onGone(undefined);
  }
  putBack(limit);
  return true;
}

const LONGEST_GRACE_MS = 500;

type Place = Pick<Entry, 'contender' | 'queue' | 'tookMs'>;

/**
 * The wait that all recipes with a wait queue share. The contender finds out its predecessors, watches the nearest, and
 * finds out again after each event.
 * While the nearest still exists, the second is watched as well (look-ahead). When the second is deleted, the contender
 * finds out which others are deleted too. Nothing is left to ask when the nearest is deleted, so the turn comes with
 * that event itself.
 * Resolves to whether it is the contender's turn: with `wait` only once it is, otherwise with the first answer. Rejects
 * with `signal.reason`, leaving no watch.
 */
export function turnInQueue(session: Session, wait: boolean): Turn {
  return {
    isNow,
    comes: async (place, signal) => {
      const nearest = await ahead(place, signal);
      if (nearest.length === 0) return true;
      if (!wait) return mayGoAtOnce(nearest) && untilTurnOr(session, place, nearest, signal);
      await untilTurn(session, place, nearest, signal);
      return true;
    },
  };
}

/**
 * The turn of a contender that never waits, not even for a predecessor that leaves at once. It is first or has no turn.
 */
export function turnIfFirst(): Turn {
  return { isNow, comes: async (place, signal) => (await ahead(place, signal)).length === 0 };
}

function isNow(place: Place): boolean {
  return !isCounterEnding(place.contender.name) && isFirst(place);
}

/** The predecessors that the contender has to wait for. @throws CounterEndingError */
async function ahead(place: Place, signal: AbortSignal): Promise<readonly ContenderName[]> {
  if (isCounterEnding(place.contender.name)) throw new CounterEndingError(place.contender);
  return listed(place, signal);
}

/** Whether it is known that no contender is ahead. */
function isFirst({ contender, queue }: Pick<Place, 'contender' | 'queue'>): boolean {
  return queue.knows(contender) && queue.predecessors(contender).length === 0;
}

/** Whether there is only one predecessor, and that one may hold a warm lease, which it releases at once. */
function mayGoAtOnce([nearest, second]: readonly ContenderName[]): boolean {
  return nearest !== undefined && second === undefined && mayBeIdle(nearest.name);
}

/**
 * The time in milliseconds that a predecessor needs to leave after an event: for its deletion and the event of that.
 */
function graceMs({ tookMs }: Place): number {
  return Math.min(3 * tookMs + 5, LONGEST_GRACE_MS);
}

async function untilTurnOr(session: Session, place: Place, nearest: readonly ContenderName[], signal: AbortSignal) {
  const isTurn = await limited(graceMs(place), signal, async (limit) => {
    await untilTurn(session, place, nearest, limit);
    return true;
  });
  return isTurn ?? false;
}

/**
 * The predecessor's deletion event says nothing about our own znode, so our own is watched too. On one connection the
 * event of our own comes first. (A predecessor of this session leaves without another event; see docs/guarantees.md.)
 */
async function untilTurn(session: Session, place: Place, nearest: readonly ContenderName[], signal: AbortSignal) {
  const watched = new WatchedPredecessors(place.queue, signal);
  const ownWatched = watchOwnNode(session, place.contender);
  try {
    for (let awaited = nearest; awaited.length > 0; awaited = isFirst(place) ? [] : await caughtUp(place, signal)) {
      watched.only(awaited);
      // A contender of this session may have left just before it was watched.
      if (isFirst(place)) break;
      await watched.news();
    }
    await orAbort(ownWatched, signal);
  } finally {
    watched.dispose();
  }
}

/** The predecessors to wait for after an event. */
async function caughtUp(place: Place, signal: AbortSignal): Promise<readonly ContenderName[]> {
  const nearest = await listed(place, signal);
  if (nearest.every(({ name }) => place.queue.isWatched(name))) return nearest;
  await place.queue.refresh(place.contender, signal);
  return listed(place, signal);
}

/** The predecessors to wait for, as far as they are known. Otherwise the children are listed. */
async function listed({ contender, queue }: Place, signal: AbortSignal): Promise<readonly ContenderName[]> {
  while (!queue.knows(contender)) await queue.look(contender, signal);
  return queue.predecessors(contender);
}

/** The predecessors that one contender watches. */
class WatchedPredecessors {
  readonly #queue: WaitQueueView;
  readonly #watched = new Map<string, Dispose>();
  readonly #unlisten: Dispose;
  #news = deferred();
  #failure: { readonly error: unknown } | undefined;

  constructor(queue: WaitQueueView, signal: AbortSignal) {
    this.#queue = queue;
    this.#unlisten = onAbort(signal, (reason) => this.#fail(reason));
  }

  /** Watches exactly these from now on. Existing watches on them are kept. */
  only(predecessors: readonly ContenderName[]): void {
    const names = new Set(predecessors.map(({ name }) => name));
    names.forEach((name) => this.#watch(name));
    for (const [name, dispose] of this.#watched) {
      if (names.has(name)) continue;
      this.#watched.delete(name);
      dispose();
    }
  }

  /**
   * Resolves when one of them had an event since it last resolved.
   * @throws why one cannot be watched, the signal's reason
   */
  async news(): Promise<void> {
    await this.#news.promise;
    if (this.#failure) throw this.#failure.error;
    this.#news = deferred();
  }

  dispose(): void {
    this.#unlisten();
    this.#watched.forEach((undo) => undo());
    this.#watched.clear();
  }

  #watch(name: string): void {
    if (this.#watched.has(name)) return;
    const dispose = this.#queue.attend(name, (error) => {
      this.#watched.delete(name);
      if (error === undefined) this.#news.resolve();
      else this.#fail(error);
    });
    this.#watched.set(name, dispose);
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#news.resolve();
  }
}
