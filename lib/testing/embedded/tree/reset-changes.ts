import type { Change } from './change.js';
import type { DataTree } from './data-tree.js';
import { initialZnodes, SPECIAL_PATHS } from './initial-znodes.js';
import type { Znode } from './znode.js';

/** Returns the changes that give a tree the contents of a fresh one. Its counters continue. */
export function resetChanges(tree: DataTree): Change[] {
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
