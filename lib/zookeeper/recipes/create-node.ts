/**
 * Creation of znodes and of the parents that they need.
 * The znode alone is tried first. If a parent is missing, the missing parents and the znode are created in one
 * transaction. It leaves no empty container that the servers would never remove.
 * Missing levels are found from the bottom up, so nothing above them is touched. Nothing is cached, because the servers
 * remove empty containers at any time.
 */
import { CreateMode, ErrorCode, isKeeperError, KeeperError, refusedAt } from '../session/requests.js';
import type { CreatedNode, MultiOp, Requests, TransactionReply } from '../session/requests.js';
import { withAncestors } from './znode-path.js';
import { REMOVABLE } from './lock-directory.js';
import type { LockDirectory } from './lock-directory.js';

const EMPTY = Buffer.alloc(0);
// More attempts than this mean that other clients remove parents as fast as they are created.
const MOST_ATTEMPTS = 64;
// Up to this many missing levels are found by trying. For a deeper path it is quicker to ask which are missing.
const MOST_TRIED_LEVELS = 4;

export interface NewNode {
  /** The name below the directory. For a sequential znode: without the number. */
  readonly name: string;
  readonly mode: CreateMode;
  readonly data: Buffer;
}

/** Creates one znode. @throws KeeperError; after a connection loss the znode may or may not exist */
export async function createNode(requests: Requests, directory: LockDirectory, node: NewNode): Promise<CreatedNode> {
  const [created] = (await createNodes(requests, directory, [node])) as readonly [CreatedNode];
  return created;
}

/**
 * Creates a directory, and the first znode in it, in one transaction.
 * @throws KeeperError: `nodeExists` if the directory exists, `noNode` if its parent does not
 */
export function createFirst(requests: Requests, directory: LockDirectory, node: NewNode): Promise<CreatedNode> {
  const path = `${directory.path}/${node.name}`;
  const request = { path, data: node.data, acl: directory.acl, mode: node.mode };
  return requests.createFirst(request, parentOp(directory.path, directory));
}

/** Creates one znode whose directory, and the parent of that, are probably missing. @throws as `createNode` */
export async function createBelow(requests: Requests, directory: LockDirectory, node: NewNode): Promise<CreatedNode> {
  const { results, zxid } = await multiBelow(requests, directory, [nodeOp(directory, node)], 2);
  return { path: results[0]?.path ?? '', czxid: zxid };
}

/**
 * Creates several sequential znodes, all of them or none, or one znode of any kind.
 * @throws KeeperError; after a connection loss the znodes may or may not exist
 */
export async function createNodes(
  requests: Requests,
  directory: LockDirectory,
  nodes: readonly NewNode[],
): Promise<readonly CreatedNode[]> {
  const { path, acl } = directory;
  const one = nodes.length === 1 ? nodes[0] : undefined;
  try {
    if (one) return [await requests.create({ path: `${path}/${one.name}`, data: one.data, acl, mode: one.mode })];
  } catch (error) {
    if (!isKeeperError(error, 'noNode')) throw error;
  }
  const ops = nodes.map((node) => nodeOp(directory, node));
  const { results, zxid } = await multiBelow(requests, directory, ops, one ? 1 : 0);
  return results.map(({ path = '' }) => ({ path, czxid: zxid }));
}

/**
 * Creates a missing directory, with a child that is deleted at once. Servers never remove a container that had no
 * child.
 */
export async function createDirectory(requests: Requests, directory: LockDirectory): Promise<void> {
  const node = nodeOp(directory, { name: '_', mode: CreateMode.persistent, data: EMPTY });
  await multiBelow(requests, directory, [node, { type: 'delete', path: node.path }], 1);
}

/**
 * Applies operations in one transaction. They need nothing but the directory, which is created as well if it is
 * missing.
 * @param missing the number of its levels that are assumed to be missing
 * @throws KeeperError
 */
export async function multiBelow(
  requests: Requests,
  directory: LockDirectory,
  ops: readonly MultiOp[],
  missing = 0,
): Promise<TransactionReply> {
  const ancestors = withAncestors(directory.path);
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    const parents = ancestors.slice(0, missing).reverse();
    const { results, zxid } = await requests.multi([...parents.map((parent) => parentOp(parent, directory)), ...ops]);
    const failed = refusedAt(results);
    if (failed < 0) return { results: results.slice(parents.length), zxid };
    const further = levelsFurther(results[failed]?.error, failed < parents.length, directory.path);
    const isDeep = missing >= MOST_TRIED_LEVELS && ancestors.length > MOST_TRIED_LEVELS;
    missing = isDeep ? await missingLevels(requests, directory.path) : missing + further;
    if (missing < 0 || missing > ancestors.length) break;
  }
  throw new KeeperError(ErrorCode.noNode, directory.path);
}

/** The number of missing levels of the directory, itself included. */
async function missingLevels(requests: Requests, path: string): Promise<number> {
  return (await missingParents(requests, [`${path}/_`])).length;
}

/**
 * One more level when a parent's parent is missing. One less when another client has just created one of the parents.
 */
function levelsFurther(error: number | undefined, isOfParent: boolean, path: string): number {
  if (error === ErrorCode.noNode) return 1;
  if (error === ErrorCode.nodeExists && isOfParent) return -1;
  throw new KeeperError(error ?? ErrorCode.runtimeInconsistency, path);
}

/** The operation that creates one parent. */
export function parentOp(path: string, { acl, parents, isOfKey = false }: LockDirectory): MultiOp {
  return parents === 'container'
    ? { type: 'createContainer', path, data: isOfKey ? REMOVABLE : EMPTY, acl, flags: CreateMode.container }
    : { type: 'create', path, data: EMPTY, acl, flags: CreateMode.persistent };
}

function nodeOp({ path, acl }: LockDirectory, { name, data, mode }: NewNode): MultiOp {
  return { type: 'create', path: `${path}/${name}`, data, acl, flags: mode };
}

/** The znodes above these paths that do not exist, from the top down. */
export async function missingParents(
  requests: Pick<Requests, 'read'>,
  paths: readonly string[],
): Promise<readonly string[]> {
  const parents = [...new Set(paths.flatMap((path) => withAncestors(path).slice(1)))];
  const areThere = await Promise.all(parents.map((parent) => isThere(requests, parent)));
  return parents.filter((_, place) => !areThere[place]).sort((a, b) => a.length - b.length);
}

async function isThere(requests: Pick<Requests, 'read'>, path: string): Promise<boolean> {
  try {
    await requests.read(path);
    return true;
  } catch (error) {
    if (isKeeperError(error, 'noNode')) return false;
    // A znode that may not be read exists.
    if (isKeeperError(error, 'noAuth')) return true;
    throw error;
  }
}
