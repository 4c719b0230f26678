/**
 * Revocation: a key is taken away from its holders.
 * Znodes: the holders' own. Their data is replaced by a request for revocation. For Curator's holders it is
 * `__REVOKE__`, the only word that they look for. For ours it still describes the owner. A holder of ours watches its
 * own znode.
 * Waiting: the revoking client waits until the holders' znodes are deleted, and deletes them after the grace. A writer
 * may have become a reader meanwhile, with another znode in the same place. Then revocation of that one is requested,
 * and it is waited for.
 * Session loss: the next session continues with the same znodes. A client that acquired the key meanwhile is not asked.
 * Source: Curator's Revoker and makeRevocable; the grace and the force are those of ZooKeeper Recipes, "Revocable
 * Shared Locks".
 */
import { OwnAbortController, withAnyAbort } from '../../async/abort.js';
import { ErrorCode, KeeperError } from '../session/requests.js';
import type { CreatedNode, MultiOp, Requests } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { untilGone, unlessMissing } from '../session/watch.js';
import { isRevoked, revokedData } from './contender-znode.js';
import { holdersIn, placesOfWriters, readersAt } from './contender-listing.js';
import { heldPermits } from './permit-view.js';

// Every refusal means that another client has written the same data.
const MOST_ATTEMPTS = 64;

/** The znodes of all holders of the key, permits included. */
export async function holdersOf(session: Session, path: string, signal: AbortSignal): Promise<string[]> {
  await upToDate(session, path, signal);
  return (await Promise.all([holdersIn(session, path, signal), heldPermits(session, path, signal)])).flat();
}

/** The reader znodes of those holders that were writers and have become readers. They still hold the key. */
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

/** Requests revocation from these holders. @returns those of their znodes that still exist */
export async function askToGiveWay(
  session: Session,
  holders: readonly string[],
  signal: AbortSignal,
): Promise<CreatedNode[]> {
  const asked = holders.map((holder) => session.persistently(() => ask(session.requests, holder), signal));
  return (await Promise.all(asked)).filter((holder) => holder !== undefined);
}

/** Resolves when all of the znodes are deleted. */
export async function untilGivenWay(
  session: Session,
  holders: readonly CreatedNode[],
  signal: AbortSignal,
): Promise<void> {
  const failure = new OwnAbortController();
  await withAnyAbort([signal, session.signal, failure.signal], async (limit) => {
    try {
      await Promise.all(holders.map((holder) => untilGone(session, holder, limit)));
    } catch (error) {
      failure.abort(error);
      throw error;
    }
  });
}

/** Deletes those of the znodes that still exist. */
export async function removeByForce(
  session: Session,
  holders: readonly CreatedNode[],
  signal: AbortSignal,
): Promise<void> {
  const removed = holders.map((holder) => session.persistently(() => remove(session.requests, holder), signal));
  await Promise.all(removed);
}

/**
 * Brings the connected server up to date: it may be behind the others. Holders that they granted before the call must
 * not be missed.
 */
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
    // A znode of another client may be at the same path by now.
    const op = { type: 'delete', path, version: stat.version } as const;
    return { done: true, op: stat.czxid === czxid ? op : undefined };
  });
}

type Seen = Awaited<ReturnType<Requests['read']>>;

/**
 * Reads the znode and applies the operation of `plan`. Repeats both when the operation is out of date by then.
 * `undefined` when there is no znode.
 */
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
