import type { Draft } from '../database/transaction.js';
import { demandPermission, keptAcl, Permission } from '../tree/acl.js';
import { isValidPath, parentOf } from '../tree/znode-path.js';
import type { Lifetime, Znode } from '../tree/znode.js';
import { statOf } from '../tree/znode.js';
import type { Stat } from '../../../zookeeper/wire/records.js';
import { Refusal } from '../wire/refusal.js';
import type { Client } from './client.js';
import { checkTtl, createFlags, sequenceSuffix } from './create-mode.js';
import type { CreateRequest } from './write-request.js';

export interface Created {
  readonly path: string;
  readonly stat: Stat;
}

/**
 * Creates a znode. The checks are in the server's order, so that a request with two mistakes gets the server's answer.
 */
export function create(request: CreateRequest, { identities, rules, session }: Client, draft: Draft): Created {
  if (request.lacksTtl) throw new RangeError('a time to live without a time');
  const { kind, isSequential } = createFlags(request.flags);
  checkTtl(kind, request.ttlMs, rules.extendedTypes);
  if (!request.path.includes('/') || request.path.includes('\0')) throw new Refusal('badArguments');
  const acl = keptAcl(request.acl, identities);
  const parent = draft.tree.demand(parentOf(request.path));
  demandPermission(parent.acl, Permission.create, identities);
  const path = isSequential ? request.path + sequenceSuffix(parent.creates) : request.path;
  checkPlace(path, parent, draft);
  const lifetime = lifetimeOf(request, kind, session.id);
  draft.apply({ type: 'create', path, data: request.data, acl, lifetime });
  return { path, stat: statOf(draft.tree.demand(path)) };
}

function checkPlace(path: string, parent: Znode, draft: Draft): void {
  if (!isValidPath(path)) throw new Refusal('badArguments');
  if (draft.tree.get(path)) throw new Refusal('nodeExists');
  if (parent.lifetime.kind === 'ephemeral') throw new Refusal('noChildrenForEphemerals');
}

/**
 * Returns the lifetime by the type of the request. A request that asks for a container by its flags only creates a
 * persistent znode.
 */
function lifetimeOf({ type, ttlMs }: CreateRequest, kind: Lifetime['kind'], sessionId: bigint): Lifetime {
  if (type === 'createContainer') return { kind: 'container' };
  if (type === 'createTtl' && kind === 'ttl') return { kind: 'ttl', ttlMs: Number(ttlMs) };
  return kind === 'ephemeral' ? { kind, owner: sessionId } : { kind: 'persistent' };
}
