/**
 * Takes items out of a queue, and keeps them there until they are acknowledged.
 * Znodes: for each item that somebody has taken, one of the item's name in the directory of the claims, ephemeral; for
 * each who waits, `_c_<uuid>-lock-<number>` in the directory of the takers.
 * Who waits for whom: those who find nothing stand in a line; the first of them watches the items, and the claims when
 * there are items that somebody has taken. An item that is put wakes one taker, and nobody else.
 * A claim is made in one transaction with a check that the item is still there, so what was acknowledged is never taken
 * again from an old list. Acknowledging removes item and claim in one transaction.
 * Session loss: the servers remove the claims, and the items are taken by the next, before all that was put later. Their
 * leases are lost before that. A waiter enters the line again.
 * Source: ZooKeeper Recipes, "Queues"; claims are those of Curator's DistributedQueue with a lockPath.
 */
import { anyAbort, orAbort } from '../../async/abort.js';
import { settledWithin } from '../../async/timer.js';
import type { TakenItem, QueueTakeRequest } from '../../contract/coordination-backend.js';
import { LEAVING_MS } from '../recipes/wait-for-turn.js';
import type { Session } from '../session/session.js';
import { unlessMissing } from '../session/watch.js';
import { untilSeen } from '../session/watched-directories.js';
import { forgetBacklog, keepBacklog, keptBacklog } from './backlog.js';
import { ItemClaims } from './queue-claim.js';
import { itemsIn } from './queue-place.js';
import type { QueuePlace } from './queue-place.js';
import { inTurn } from './turn.js';

// So many of a backlog may turn out to be acknowledged before a list is the quicker way.
const MOST_GONE = 16;

/** Items to choose from, in their order. */
interface Free {
  readonly free: readonly string[];
  /** With fewer of them left it is better to look again. */
  readonly fewest?: number;
}

/** @throws KeeperError, SessionEndedError, `signal.reason` */
export async function takeItems(
  session: Session,
  place: QueuePlace,
  request: QueueTakeRequest,
): Promise<readonly TakenItem[]> {
  const limits = anyAbort([request.signal, session.signal]);
  const limited = { ...request, signal: limits.signal };
  try {
    const taken = await takeAtOnce(session, place, limited);
    return taken.length > 0 || !request.wait ? taken : await takeInTurn(session, place, limited);
  } finally {
    limits.dispose();
  }
}

/** Takes what is there; nothing when others wait for it, or take it at the same time, and the request may wait as well. */
async function takeAtOnce(
  session: Session,
  place: QueuePlace,
  request: QueueTakeRequest,
): Promise<readonly TakenItem[]> {
  const { requests } = session;
  const kept = keptBacklog(session, place.items.path);
  const look = () =>
    Promise.all([
      // Who does not wait is told what is so now, and not what a server that is behind still believes.
      request.wait || requests.sync(place.items.path),
      kept ?? unlessMissing(requests.children(place.items.path), []),
      unlessMissing(requests.children(place.claims.path), []),
      unlessMissing(requests.children(place.takers.path), []),
    ]);
  const [, names, claimed, waiting] = await session.persistently(look, request.signal);
  if (request.wait && waiting.length > 0) return [];
  const attempts = request.wait ? 'once' : 'any';
  if (!kept) return claim(session, place, { free: freeItems(session, place, names, claimed) }, request, attempts);
  const taken = await claim(session, place, keptFree(kept, claimed, request), request, attempts);
  if (taken.length > 0 || request.wait) return taken;
  forgetBacklog(session, place.items.path);
  return takeAtOnce(session, place, request);
}

async function takeInTurn(
  session: Session,
  place: QueuePlace,
  request: QueueTakeRequest,
): Promise<readonly TakenItem[]> {
  const taken = await inTurn(session, place.takers, request, async () => {
    for (;;) {
      const some = (await inBacklog(session, place, request)) ?? (await untilFree(session, place, request.signal));
      const claimed = await claim(session, place, some, request, 'any');
      if (claimed.length > 0) return claimed;
      forgetBacklog(session, place.items.path);
    }
  });
  return taken ?? [];
}

/** A take that gives up while its claim is on the way puts the items back first, so that nobody passes over them. */
async function claim(
  session: Session,
  place: QueuePlace,
  { free, fewest }: Free,
  request: QueueTakeRequest,
  attempts: 'once' | 'any',
): Promise<readonly TakenItem[]> {
  await session.whenConnected(request.signal);
  const claiming = new ItemClaims(session, place, request).of(free, attempts, fewest);
  try {
    const taken = await orAbort(claiming, request.signal);
    // Claims that lay in a buffer while this process stood still may be lost: nobody is handed those.
    if (taken.length > 0 && !session.isProven) await session.proven(request.signal);
    return taken;
  } catch (error) {
    await settledWithin(claiming.then(putBack), LEAVING_MS);
    throw error;
  }
}

async function putBack(items: readonly TakenItem[]): Promise<void> {
  await Promise.all(items.map(({ lease }) => lease.release()));
}

function untilFree(session: Session, place: QueuePlace, signal: AbortSignal): Promise<Free> {
  const { items, claims } = place;
  return untilSeen(session, [items.path, claims.path], signal, async (names = [], claimed = []) => {
    const free = freeItems(session, place, names, claimed);
    return free.length > 0 ? { free } : undefined;
  });
}

/** What is free of the items that an earlier list has shown, if that will do. */
async function inBacklog(session: Session, place: QueuePlace, request: QueueTakeRequest): Promise<Free | undefined> {
  const kept = keptBacklog(session, place.items.path);
  if (!kept) return undefined;
  const list = () => unlessMissing(session.requests.children(place.claims.path), []);
  const claimed = await session.persistently(list, request.signal);
  const some = keptFree(kept, claimed, request);
  return some.free.length >= some.fewest ? some : undefined;
}

function keptFree(kept: readonly string[], claimed: readonly string[], { atMost }: QueueTakeRequest): Required<Free> {
  return { free: unclaimed(kept, claimed).slice(0, atMost + MOST_GONE), fewest: atMost };
}

/** The items that nobody had taken when the servers were asked, in their order. */
function freeItems(
  session: Session,
  { items }: QueuePlace,
  names: readonly string[],
  claimed: readonly string[],
): readonly string[] {
  const inOrder = itemsIn(names);
  keepBacklog(session, items.path, inOrder);
  return unclaimed(inOrder, claimed);
}

function unclaimed(inOrder: readonly string[], claimed: readonly string[]): string[] {
  const taken = new Set(claimed);
  return inOrder.filter((name) => !taken.has(name));
}
