/**
 * A znode and the parents it needs. The znode is tried first; when a parent is missing, the missing ones and the znode
 * are made in one transaction from the bottom up, so that no empty container is left that the servers never remove,
 * and nothing above what is missing is touched. Never cached: servers remove empty containers at any time.
 */
import { CreateMode, ErrorCode, isKeeperError, KeeperError } from '../session/requests.js';
import type { CreatedNode, MultiOp, MultiResult, Requests } from '../session/requests.js';
import { withAncestors } from '../session/znode-path.js';
import type { Place } from './place.js';

const EMPTY = Buffer.alloc(0);
// Every attempt learns one level; more than this means that somebody removes parents as fast as they are made.
const MOST_ATTEMPTS = 64;

export interface NewNode {
  /** The name below the place's path; of a sequential znode, without the number. */
  readonly name: string;
  readonly mode: CreateMode;
  readonly data: Buffer;
}

/** @throws KeeperError; a connection loss leaves it open whether the znode is there */
export async function createNode(requests: Requests, place: Place, node: NewNode): Promise<CreatedNode> {
  const path = `${place.path}/${node.name}`;
  try {
    return await requests.create({ path, data: node.data, acl: place.acl, mode: node.mode });
  } catch (error) {
    if (!isKeeperError(error, 'noNode')) throw error;
    return createWithParents(requests, place, node);
  }
}

async function createWithParents(requests: Requests, place: Place, node: NewNode): Promise<CreatedNode> {
  const ancestors = withAncestors(place.path);
  let missing = 1;
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    const parents = ancestors.slice(0, missing).reverse();
    const { results, zxid } = await requests.multi([
      ...parents.map((path) => parentOp(path, place)),
      nodeOp(place, node),
    ]);
    const failure = firstFailure(results);
    if (!failure) return { path: results.at(-1)?.path ?? '', czxid: zxid };
    missing += levelsFurther(failure, place.path);
    if (missing < 0 || missing > ancestors.length) break;
  }
  throw new KeeperError(ErrorCode.noNode, place.path);
}

/** One more level when a parent's parent is missing, one less when somebody made one of them meanwhile. */
function levelsFurther(error: number, path: string): number {
  if (error === ErrorCode.noNode) return 1;
  if (error === ErrorCode.nodeExists) return -1;
  throw new KeeperError(error, path);
}

function firstFailure(results: readonly MultiResult[]): number | undefined {
  return results.find(({ error }) => error !== ErrorCode.ok && error !== ErrorCode.runtimeInconsistency)?.error;
}

function parentOp(path: string, { acl, parents }: Place): MultiOp {
  return parents === 'container'
    ? { type: 'createContainer', path, data: EMPTY, acl, flags: CreateMode.container }
    : { type: 'create', path, data: EMPTY, acl, flags: CreateMode.persistent };
}

function nodeOp(place: Place, { name, data, mode }: NewNode): MultiOp {
  return { type: 'create', path: `${place.path}/${name}`, data, acl: place.acl, flags: mode };
}
