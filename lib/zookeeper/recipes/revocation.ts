/**
 * Taking a key away from its holders.
 * Znodes: the holders' own. Their data is replaced by what asks them to give way: Curator's `__REVOKE__` for Curator's,
 * which look for that very word; ours go on saying whose they are. A holder of ours watches its own znode.
 * Who waits for whom: whoever revokes waits for the holders' znodes to go, and deletes them after the grace. A writer may
 * have made itself a reader meanwhile, with another znode in the same place: then that one is asked, and waited for.
 * Session loss: the next session goes on with the same znodes; nobody who got the key meanwhile is asked.
 * Source: Curator's Revoker and makeRevocable; the grace and the force are those of ZooKeeper Recipes, "Revocable Shared
 * Locks".
 */
import { anyAbort, OwnAbortController } from '../../async/abort.js';
import { ErrorCode, KeeperError } from '../session/requests.js';
import type { CreatedNode, MultiOp, Requests } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { untilGone, unlessMissing } from '../session/watch.js';
import { isRevoked, revokedData } from './contender-data.js';
import { holdersIn, placesOfWriters, readersAt } from './line-view.js';
import { heldPermits } from './permit-view.js';

// Every refusal says that somebody else has written the same data.
const MOST_ATTEMPTS = 64;

/** The znodes of all who hold the key, those of permits too. */
export async function holdersOf(session: Session, path: string, signal: AbortSignal): Promise<string[]> {
  await upToDate(session, path, signal);
  return (await Promise.all([holdersIn(session, path, signal), heldPermits(session, path, signal)])).flat();
}

/** The znodes of those writers among them who have made themselves readers: they hold the key still. */
export async function readersAmong(
  session: Session,
  path: string,
  holders: readonly string[],
  signal: AbortSignal,
): Promise<string[]> {
  const places = placesOfWriters(holders);
  if (places.size === 0) return [];
  await upToDate(session, path, signal);
  return readersAt(session, path, places, signal);
}

/** Asks these holders to give way. @returns their znodes, as far as they are still there */
export async function askToGiveWay(
  session: Session,
  holders: readonly string[],
  signal: AbortSignal,
): Promise<CreatedNode[]> {
  const asked = holders.map((holder) => session.persistently(() => ask(session.requests, holder), signal));
  return (await Promise.all(asked)).filter((holder) => holder !== undefined);
}

/** Resolves when all of them are gone. */
export async function untilGivenWay(
  session: Session,
  holders: readonly CreatedNode[],
  signal: AbortSignal,
): Promise<void> {
  const failure = new OwnAbortController();
  const limits = anyAbort([signal, session.signal, failure.signal]);
  try {
    await Promise.all(holders.map((holder) => untilGone(session, holder, limits.signal)));
  } catch (error) {
    failure.abort(error);
    throw error;
  } finally {
    limits.dispose();
  }
}

/** Deletes the znodes of those who are still there. */
export async function removeByForce(
  session: Session,
  holders: readonly CreatedNode[],
  signal: AbortSignal,
): Promise<void> {
  const removed = holders.map((holder) => session.persistently(() => remove(session.requests, holder), signal));
  await Promise.all(removed);
}

/** The server that is asked may be behind the others; whoever they let in before the call must not be missed. */
function upToDate(session: Session, path: string, signal: AbortSignal): Promise<void> {
  return session.persistently(() => session.requests.sync(path), signal);
}

async function ask(requests: Requests, path: string): Promise<CreatedNode | undefined> {
  return withVersion(requests, path, ({ data, stat }) => {
    const { czxid, version } = stat;
    const op = { type: 'setData', path, data: revokedData(data), version } as const;
    return { done: { path, czxid }, op: isRevoked(data) ? undefined : op };
  });
}

async function remove(requests: Requests, { path, czxid }: CreatedNode): Promise<void> {
  await withVersion(requests, path, ({ stat }) => {
    // Somebody else's may be at the same path by now.
    const op = { type: 'delete', path, version: stat.version } as const;
    return { done: true, op: stat.czxid === czxid ? op : undefined };
  });
}

type Seen = Awaited<ReturnType<Requests['read']>>;

/** Does what `plan` says of the znode as it is, unless that is out of date by then. `undefined` when there is none. */
async function withVersion<T>(
  requests: Requests,
  path: string,
  plan: (seen: Seen) => { readonly done: T; readonly op: MultiOp | undefined },
): Promise<T | undefined> {
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    const seen = await unlessMissing(requests.read(path), undefined);
    if (!seen) return undefined;
    const { done, op } = plan(seen);
    const error = op ? await errorOf(requests, op) : ErrorCode.ok;
    if (error === ErrorCode.ok) return done;
    if (error !== ErrorCode.badVersion && error !== ErrorCode.noNode) throw new KeeperError(error, path);
  }
  throw new KeeperError(ErrorCode.operationTimeout, path);
}

async function errorOf(requests: Requests, op: MultiOp): Promise<number> {
  const { results } = await requests.multi([op]);
  return results[0]?.error ?? ErrorCode.ok;
}
