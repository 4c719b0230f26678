import type { Draft } from '../database/transaction.js';
import { demandPermission, keptAcl, Permission } from '../tree/acl.js';
import { SPECIAL_PATHS } from '../tree/initial-znodes.js';
import { isValidPath, parentOf } from '../tree/znode-path.js';
import { statOf } from '../tree/znode.js';
import type { Znode } from '../tree/znode.js';
import type { Stat } from '../../../zookeeper/wire/records.js';
import { Refusal } from '../wire/refusal.js';
import type { Client } from './client.js';
import { create } from './create.js';
import type { Created } from './create.js';
import type { WriteRequest } from './write-request.js';

interface OfVersion {
  readonly path: string;
  readonly version: number;
}

type RequestOf<Type extends 'setData' | 'setAcl'> = Extract<WriteRequest, { readonly type: Type }>;

/** The result of a write: the path of a created znode, the present state of a znode. */
export type Written = Partial<Created>;

const DONE: Written = {};

/** @throws Refusal when it is not permitted; nothing has been changed then */
export function write(request: WriteRequest, client: Client, draft: Draft): Written {
  switch (request.type) {
    case 'delete':
      return remove(request, client, draft);
    case 'deleteContainer':
      return removeContainer(request.path, draft);
    case 'setData':
      return { stat: setData(request, client, draft) };
    case 'setAcl':
      return { stat: setAcl(request, client, draft) };
    case 'check':
      return check(request, client, draft);
    default:
      return create(request, client, draft);
  }
}

function remove({ path, version }: OfVersion, { identities }: Client, draft: Draft): Written {
  demandPermission(deletableFrom(path, draft).acl, Permission.delete, identities);
  const znode = draft.tree.demand(path);
  nextVersion(znode.version, version);
  if (znode.children.size > 0) throw new Refusal('notEmpty');
  draft.apply({ type: 'delete', path });
  return DONE;
}

/**
 * Removes an empty container or a znode past its time to live. The server sends this request to itself, and accepts it
 * from clients, too.
 */
export function removeContainer(path: string, draft: Draft): Written {
  deletableFrom(path, draft);
  const znode = draft.tree.demand(path);
  if (znode.children.size > 0) throw new Refusal('notEmpty');
  if (znode.lifetime.kind === 'ephemeral') throw new Refusal('badVersion');
  draft.apply({ type: 'delete', path });
  return DONE;
}

function deletableFrom(path: string, draft: Draft): Znode {
  if (!path.includes('/') || path.includes('\0') || SPECIAL_PATHS.has(path)) throw new Refusal('badArguments');
  return draft.tree.demand(parentOf(path));
}

function setData({ path, data, version }: RequestOf<'setData'>, { identities }: Client, draft: Draft): Stat {
  const znode = valid(path, draft);
  demandPermission(znode.acl, Permission.write, identities);
  draft.apply({ type: 'setData', path, data, version: nextVersion(znode.version, version) });
  return statOf(znode);
}

function setAcl({ path, acl, version }: RequestOf<'setAcl'>, { identities }: Client, draft: Draft): Stat {
  if (!isValidPath(path)) throw new Refusal('badArguments');
  const kept = keptAcl(acl, identities);
  const znode = draft.tree.demand(path);
  demandPermission(znode.acl, Permission.admin, identities);
  draft.apply({ type: 'setAcl', path, acl: kept, aversion: nextVersion(znode.aversion, version) });
  return statOf(znode);
}

function check({ path, version }: OfVersion, { identities }: Client, draft: Draft): Written {
  const znode = valid(path, draft);
  demandPermission(znode.acl, Permission.read, identities);
  nextVersion(znode.version, version);
  return DONE;
}

function valid(path: string, draft: Draft): Znode {
  if (!isValidPath(path)) throw new Refusal('badArguments');
  return draft.tree.demand(path);
}

const ANY_VERSION = -1;

function nextVersion(current: number, expected: number): number {
  if (expected !== ANY_VERSION && expected !== current) throw new Refusal('badVersion');
  return (current + 1) | 0;
}
