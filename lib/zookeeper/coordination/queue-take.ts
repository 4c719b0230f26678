/**
 * Takes items out of a queue, and keeps them there until they are acknowledged.
 * Znodes: for each taken item, one of the item's name in the directory of the claims, ephemeral. For each waiting
 * caller, `_c_<uuid>-lock-<number>` in the directory of the takers.
 * Waiting: callers that find no item wait in a wait queue. The first of them watches the items, and the claims if there
 * are claimed items. A new item wakes only one caller.
 * A claim is made in one transaction with a check that the item still exists. So an acknowledged item is never taken
 * again from an old list. Acknowledging deletes item and claim in one transaction.
 * Session loss: the servers delete the claims, and the items are taken next, before all items that were put later.
 * Their leases are lost before that. A waiting caller queues again.
 * Source: ZooKeeper Recipes, "Queues"; claims are those of Curator's DistributedQueue with a lockPath.
 */
import { orAbort, withAnyAbort } from '../../async/abort.js';
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

// The number of kept items that may turn out to be acknowledged before a new list is faster.
const MOST_GONE = 16;

/** Items to choose from, in their order. */
interface Free {
  readonly free: readonly string[];
  /** If fewer of them are left, it is better to list again. */
  readonly fewest?: number;
}

/** @throws KeeperError, SessionEndedError, `signal.reason` */
export function takeItems(
  session: Session,
  place: QueuePlace,
  request: QueueTakeRequest,
): Promise<readonly TakenItem[]> {
  return withAnyAbort([request.signal, session.signal], async (signal) => {
    const limited = { ...request, signal };
    const taken = await takeAtOnce(session, place, limited);
    return taken.length > 0 || !request.wait ? taken : takeInTurn(session, place, limited);
  });
}

/**
 * Takes the items that are there. A request that may wait takes nothing if others wait, or if others claim the same
 * items meanwhile.
 */
async function takeAtOnce(
  session: Session,
  place: QueuePlace,
  request: QueueTakeRequest,
): Promise<readonly TakenItem[]> {
  const { requests } = session;
  const kept = keptBacklog(session, place.items.path);
  const look = () =>
    Promise.all([
      // A request that does not wait must see the present state, not the older state of a server that is behind.
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

/** Claims items. If the request aborts during that, the items are put back first, so that they keep their turn. */
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
    // If this process stalled before it read the reply, the claims may be lost. So the session is proven first.
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

/** Returns the unclaimed items of an earlier list, if there are enough of them. */
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

/** Returns the items that were unclaimed when the servers answered, in their order. */
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
