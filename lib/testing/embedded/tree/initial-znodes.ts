import type { Acl } from '../../../zookeeper/wire/records.js';
import type { Change } from './change.js';
import type { DataTree } from './data-tree.js';
import { OPEN_ACL, READ_ONLY_ACL } from './acl.js';
import { newZnode, PERSISTENT } from './znode.js';
import type { Znode } from './znode.js';

/** Paths that no client may delete. */
export const SPECIAL_PATHS: ReadonlySet<string> = new Set(['/', '/zookeeper', '/zookeeper/quota', '/zookeeper/config']);

/** What a fresh server has. */
export function initialZnodes(): Map<string, Znode> {
  const root = znodeOf(OPEN_ACL, 'zookeeper');
  const config = znodeOf(READ_ONLY_ACL);
  config.aversion = -1;
  return new Map([
    ['', root],
    ['/', root],
    ['/zookeeper', znodeOf(OPEN_ACL, 'quota', 'config')],
    ['/zookeeper/quota', znodeOf(OPEN_ACL)],
    ['/zookeeper/config', config],
  ]);
}

/** What has to be done to a tree until it holds what a fresh one does; what was counted goes on. */
export function changesToInitial(tree: DataTree): Change[] {
  const added = [...tree.paths()].filter((path) => !SPECIAL_PATHS.has(path)).sort();
  const deletions = added.reverse().map((path): Change => ({ type: 'delete', path }));
  const initial = [...initialZnodes()].filter(([path]) => path !== '');
  return [...deletions, ...initial.flatMap(([path, znode]) => changesTo(path, tree.demand(path), znode))];
}

function changesTo(path: string, { data, acl, version, aversion }: Znode, initial: Znode): Change[] {
  const changes: Change[] = [];
  if (data?.length !== 0) changes.push({ type: 'setData', path, data: initial.data, version: version + 1 });
  if (acl !== initial.acl) changes.push({ type: 'setAcl', path, acl: initial.acl, aversion: aversion + 1 });
  return changes;
}

function znodeOf(acl: readonly Acl[], ...children: readonly string[]): Znode {
  const znode = newZnode(Buffer.alloc(0), acl, PERSISTENT, { zxid: 0n, timeMs: 0 });
  for (const child of children) znode.children.add(child);
  return znode;
}
