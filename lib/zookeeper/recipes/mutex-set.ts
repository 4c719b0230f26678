/**
 * Set of mutexes: several exclusive locks that are queued for at once.
 * Znodes: those of the mutex, one in each directory. They are created in one transaction and so have one zxid.
 * Waiting: on each key as in the mutex. A predecessor has a smaller zxid, so there is no cycle of waiting. This holds
 * as long as no caller asks for more while it holds or waits for something.
 * Session loss: the servers remove the znodes. A waiter queues again on all keys. It does the same when one of its
 * znodes is deleted externally, or revoked, before it is first on all keys.
 * Source: our own; conservative two-phase locking, with the zxid of ZooKeeper's transactions as the order.
 */
import { now } from '../../async/clock.js';
import type { GrantedLease } from '../../contract/granted-lease.js';
import { grantAll } from '../../contract/granted-set.js';
import type { LockRequest } from '../../contract/lock-request.js';
import { CreateMode, ErrorCode, isConnectionLoss, KeeperError, refusedAt } from '../session/requests.js';
import type { CreatedNode, MultiOp } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { unlessMissing } from '../session/watch.js';
import { contenderData, CONTENDER_MARKS, contenderNameId } from './contender-znode.js';
import { Contender } from './contender.js';
import { missingParents, parentOp } from './create-node.js';
import { NodeDeletedError } from './held-nodes.js';
import type { LockDirectory } from './lock-directory.js';
import { findByName } from './protected-create.js';
import type { Entry } from './protected-create.js';
import { acquireEntered, QueueTurn } from './wait-for-turn.js';
import { createBatchingAt } from './wait-queue-view.js';

/** One of the locks of a set. */
export interface SetMember {
  readonly directory: LockDirectory;
  readonly request: LockRequest;
}

/** Acquires all locks or none. `null` when one is not available now and the requests do not wait. */
export async function acquireMutexSet(
  session: Session,
  members: readonly SetMember[],
): Promise<readonly GrantedLease[] | null> {
  const [first] = members;
  if (!first) return [];
  const directories = members.map(({ directory }) => directory);
  const entering = enterQueues(session, directories, first.request);
  const acquire = (request: LockRequest, place: number) => {
    const entry = entering.then((entries) => at(entries, place));
    return acquireEntered(session, at(directories, place), request, entry, new QueueTurn(session, request.wait));
  };
  const requests = members.map(({ request }) => request);
  return grantAll(requests, acquire, () => new NodeDeletedError(first.directory.path));
}

// Every attempt finds missing parents. More attempts than this mean that another client removes them as fast.
const MOST_ATTEMPTS = 64;

/**
 * Creates one contender per directory, all in one transaction. After a lost reply one of the znodes shows the outcome for
 * all. Rejects with `signal.reason` instead of making a second attempt.
 */
export async function enterQueues(
  session: Session,
  directories: readonly LockDirectory[],
  { label, signal }: Pick<LockRequest, 'label' | 'signal'>,
): Promise<readonly Entry[]> {
  for (;;) {
    if (!session.isConnected || signal.aborted) await session.whenConnected(signal);
    const begun = now();
    const name = `_c_${contenderNameId()}-${CONTENDER_MARKS.lock}`;
    // This create must not pass those that are held back.
    directories.forEach(({ path }) => createBatchingAt(session, path, 'lock')?.end());
    const created = createAll(session, directories, name, label);
    const listed = directories.map(({ path }) => session.requests.children(path).catch(() => undefined));
    const found = await created.catch((error: unknown) => findSetAgain(session, directories, name, error));
    if (!found) continue;
    const contenders = found.map((node) => new Contender(session, node));
    const entered = contenders.map(async (contender, place) => {
      const names = await at(listed, place);
      const tookMs = now() - begun;
      if (names?.includes(contender.name)) contender.queue.saw(names);
      return { contender, tookMs };
    });
    return Promise.all(entered);
  }
}

/** The element that belongs to one of the directories. */
function at<T>(ofEach: readonly T[], place: number): T {
  const one = ofEach[place];
  if (one === undefined) throw new RangeError(`nothing for the directory ${place}`);
  return one;
}

/** Creates the znodes in one transaction. @throws KeeperError; after a connection loss they may or may not exist */
async function createAll(
  { requests }: Session,
  directories: readonly LockDirectory[],
  name: string,
  label?: string,
): Promise<CreatedNode[]> {
  const data = contenderData(label);
  const flags = CreateMode.ephemeralSequential;
  const creates = directories.map(({ path, acl }): MultiOp => ({
    type: 'create',
    path: `${path}/${name}`,
    data,
    acl,
    flags,
  }));
  let parents: readonly MultiOp[] = [];
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    const { results, zxid } = await requests.multi([...parents, ...creates]);
    const failed = refusedAt(results);
    if (failed < 0) return results.slice(parents.length).map(({ path = '' }) => ({ path, czxid: zxid }));
    const { error = ErrorCode.runtimeInconsistency } = results[failed] ?? {};
    const isOfParents = error === ErrorCode.noNode || (error === ErrorCode.nodeExists && failed < parents.length);
    if (!isOfParents) throw new KeeperError(error, parents[failed]?.path ?? directories[failed - parents.length]?.path);
    parents = await parentOps(requests, directories);
  }
  throw new KeeperError(ErrorCode.noNode, directories[0]?.path);
}

async function parentOps(
  requests: Session['requests'],
  directories: readonly LockDirectory[],
): Promise<readonly MultiOp[]> {
  const [directory] = directories;
  if (!directory) return [];
  // A path below the directory, because the directory is a parent too.
  const paths = directories.map(({ path }) => `${path}/x`);
  return (await missingParents(requests, paths)).map((path) => parentOp(path, directory));
}

/** The znodes after a lost reply, if the transaction was applied. */
async function findSetAgain(
  session: Session,
  directories: readonly LockDirectory[],
  name: string,
  error: unknown,
): Promise<CreatedNode[] | undefined> {
  if (!isConnectionLoss(error)) throw error;
  // Not aborted by the caller's signal: even then it must be known whether there are znodes to delete.
  return session.surely(async () => {
    await session.requests.sync(directories[0]?.path ?? '/');
    const found = await Promise.all(directories.map((directory) => findIn(session, directory, name)));
    const nodes = found.filter((node) => node !== undefined);
    if (nodes.length === directories.length) return nodes;
    // Only some exist: the others were deleted externally, so these are useless.
    await Promise.all(nodes.map((node) => new Contender(session, node).leave(0)));
    return undefined;
  });
}

async function findIn(session: Session, directory: LockDirectory, name: string): Promise<CreatedNode | undefined> {
  const [found] = await unlessMissing(findByName(session, directory, name), []);
  return found;
}
