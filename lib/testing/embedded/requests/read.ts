import { demandPermission, maskedAcl, Permission, permits } from '../tree/acl.js';
import { userOf } from '../tree/identity.js';
import { ROOT } from '../tree/znode-path.js';
import { statOf } from '../tree/znode.js';
import type { Znode } from '../tree/znode.js';
import { Refusal } from '../wire/refusal.js';
import type { ReplyBody } from '../wire/reply-writer.js';
import type { Client } from './client.js';

/** The watch is also set when there is no such znode: this is the way to wait for one. */
export function exists(path: string, watch: boolean, { replica, watcher }: Client): ReplyBody {
  if (path.includes('\0')) throw new Refusal('badArguments');
  if (watch) replica.watches.data.add(path, watcher, 'oneShot');
  const znode = replica.tree.demand(path);
  return (writer) => writer.stat(statOf(znode));
}

export function readData(path: string, watch: boolean, client: Client): ReplyBody {
  const znode = readable(path, client);
  if (watch) client.replica.watches.data.add(path, client.watcher, 'oneShot');
  return (writer) => writer.nullableBuffer(znode.data).stat(statOf(znode));
}

export function readChildren(path: string, watch: boolean, client: Client): ReplyBody {
  const { children } = watchedChildren(path, watch, client);
  return (writer) => writer.strings(namesOf(children));
}

export function readChildren2(path: string, watch: boolean, client: Client): ReplyBody {
  const znode = watchedChildren(path, watch, client);
  return (writer) => writer.strings(namesOf(znode.children)).stat(statOf(znode));
}

function watchedChildren(path: string, watch: boolean, client: Client): Znode {
  const znode = readable(path, client);
  if (watch) client.replica.watches.children.add(path, client.watcher, 'oneShot');
  return znode;
}

/**
 * Returns the names, latest first. ZooKeeper guarantees no order, and code that relies on the order of creation should
 * fail here.
 */
function namesOf(children: ReadonlySet<string>): string[] {
  return [...children].reverse();
}

function readable(path: string, { replica, identities }: Client): Znode {
  const znode = replica.tree.demand(path);
  demandPermission(znode.acl, Permission.read, identities);
  return znode;
}

export function readAcl(path: string, { replica, identities }: Client): ReplyBody {
  const znode = replica.tree.demand(path);
  demandPermission(znode.acl, Permission.read | Permission.admin, identities);
  const acl = permits(znode.acl, Permission.admin, identities) ? znode.acl : maskedAcl(znode.acl);
  return (writer) => writer.acl(acl).stat(statOf(znode));
}

export function countDescendants(path: string, client: Client): ReplyBody {
  readable(path, client);
  const { tree } = client.replica;
  const prefix = `${path}/`;
  const count = path === ROOT ? tree.count - 2 : [...tree.paths()].filter((at) => at.startsWith(prefix)).length;
  return (writer) => writer.int(count);
}

export function ownEphemerals(prefix: string | null, { replica, session }: Client): ReplyBody {
  const isAll = prefix === null || ['', ROOT].includes(prefix.trim());
  const paths = replica.tree.index.ephemeralsOf(session.id);
  return (writer) => writer.strings(isAll ? paths : paths.filter((path) => path.startsWith(prefix)));
}

export function whoAmI({ identities }: Client): ReplyBody {
  return (writer) => writer.vector(identities, (identity) => writer.string(identity.scheme).string(userOf(identity)));
}
