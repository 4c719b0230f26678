import { defect } from './defect.js';
import type { Defect } from './defect.js';

export const TREE_DEFECTS: readonly Defect[] = [
  defect(
    'sequences count the children that are there',
    'creations',
    'requests/create',
    'sequenceSuffix(parent.creates)',
    'sequenceSuffix(parent.children.size)',
  ),
  defect(
    'sequences count only sequential children',
    'creations',
    'tree/data-tree',
    'const next = (creates + 1) | 0;',
    'const next = /\\d{10}$/.test(path) ? creates + 1 : creates;',
  ),
  defect(
    'the count of children is not undone',
    'transactions',
    'tree/data-tree',
    '[parent.creates, parent.pzxid] = [creates, pzxid];',
    'parent.pzxid = pzxid;',
  ),
  defect('a delete does not show in its parent', 'changes', 'tree/data-tree', 'parent.pzxid = zxid;', ''),
  defect('cversion counts creates', 'changes', 'tree/znode', '(2 * znode.creates - numChildren) | 0', 'znode.creates'),
  defect('a write leaves the time of the last one', 'changes', 'tree/data-tree', 'mtimeMs: timeMs }', '}'),
  defect('versions are not compared', 'changes', 'requests/write', 'expected !== current', 'false'),
  defect('versions do not grow', 'changes', 'requests/write', 'return (current + 1) | 0;', 'return current;'),
  defect('nodes with children are deleted', 'changes', 'requests/write', 'if (znode.children.size > 0)', 'if (false)'),
  defect(
    'ephemeral nodes have children',
    'creations',
    'requests/create',
    "if (parent.lifetime.kind === 'ephemeral')",
    'if (false)',
  ),
  defect('nodes are created over nodes', 'creations', 'requests/create', 'if (draft.tree.get(path))', 'if (false)'),
  defect('any path will do', 'paths', 'requests/create', 'if (!isValidPath(path))', 'if (false)'),
  defect(
    'an attempt that fails takes no transaction id',
    'changes',
    'database/database',
    'draft.undo();',
    'draft.undo(); this.#zxid -= 1n;',
  ),
  defect('a failed transaction is half applied', 'transactions', 'requests/multi', 'draft.undo();', ''),
  defect(
    'permissions are not looked at',
    'permissions',
    'tree/acl',
    'if (!permits(acl, permission, identities))',
    'if (false)',
  ),
  defect('digests are shown to everybody', 'permissions', 'tree/acl', "':x'", "':' + entry.id.split(':')[1]"),
  defect(
    'any password of a name is believed',
    'permissions',
    'tree/acl',
    'id === entry.id;',
    "id.split(':')[0] === entry.id.split(':')[0];",
  ),
];
