/**
 * Taking the last place of several lines in one transaction, as `protected-create.ts` does with one: after a lost reply
 * one of the znodes tells what became of all of them.
 */
import { now } from '../../async/clock.js';
import type { LockRequest } from '../../contract/lock-request.js';
import { CreateMode, ErrorCode, isConnectionLoss, isKeeperError, KeeperError } from '../session/requests.js';
import type { CreatedNode, MultiOp } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { contenderData } from './contender-data.js';
import { Contender } from './contender.js';
import { parentOp } from './create-node.js';
import { entryDelayAt } from './lines.js';
import type { LockDirectory } from './lock-directory.js';
import { missingParents } from './missing-parents.js';
import { findByName } from './own-znodes.js';
import { entryOf } from './protected-create.js';
import type { Entry } from './protected-create.js';
import { refusedAt } from './refusal.js';
import { contenderNameId, markOf } from './standing.js';

// Every attempt learns of parents that are missing; more than this means that somebody removes them as fast.
const MOST_ATTEMPTS = 64;

/** One entry a directory. Rejects with `signal.reason` instead of making a second attempt. */
export async function enterLines(
  session: Session,
  directories: readonly LockDirectory[],
  { label, signal }: Pick<LockRequest, 'label' | 'signal'>,
): Promise<readonly Entry[]> {
  for (;;) {
    if (!session.isConnected || signal.aborted) await session.whenConnected(signal);
    const begun = now();
    const name = `_c_${contenderNameId()}-${markOf('lock')}`;
    // Nobody passes those who are held back.
    directories.forEach(({ path }) => entryDelayAt(session, path, 'lock')?.end());
    const created = createAll(session, directories, name, label);
    const listed = directories.map(({ path }) => session.requests.children(path).catch(() => undefined));
    const found = await created.catch((error: unknown) => findAgain(session, directories, name, error));
    if (!found) continue;
    const contenders = found.map((node) => new Contender(session, node));
    return Promise.all(contenders.map((contender, place) => entryOf(contender, at(listed, place), begun)));
  }
}

/** What belongs to one of the directories. */
export function at<T>(ofEach: readonly T[], place: number): T {
  const one = ofEach[place];
  if (one === undefined) throw new RangeError(`nothing for the directory ${place}`);
  return one;
}

/** @throws KeeperError; a connection loss leaves it open whether they are there */
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
  // Below the directory itself: that is a parent, too.
  const paths = directories.map(({ path }) => `${path}/x`);
  return (await missingParents(requests, paths)).map((path) => parentOp(path, directory));
}

/** After a lost reply: the znodes, if the transaction was applied. */
async function findAgain(
  session: Session,
  directories: readonly LockDirectory[],
  name: string,
  error: unknown,
): Promise<CreatedNode[] | undefined> {
  if (!isConnectionLoss(error)) throw error;
  // Not cut short by the caller's signal: whoever gave up still has to know whether there are znodes to delete.
  return session.surely(async () => {
    await session.requests.sync(directories[0]?.path ?? '/');
    const found = await Promise.all(directories.map((directory) => findIn(session, directory, name)));
    const nodes = found.filter((node) => node !== undefined);
    if (nodes.length === directories.length) return nodes;
    // Some alone: the others were deleted from outside, and these are of no use.
    await Promise.all(nodes.map((node) => new Contender(session, node).leave(0)));
    return undefined;
  });
}

async function findIn(session: Session, directory: LockDirectory, name: string): Promise<CreatedNode | undefined> {
  const [found] = await findByName(session, directory, name).catch((error: unknown) => {
    if (isKeeperError(error, 'noNode')) return [];
    throw error;
  });
  return found;
}
