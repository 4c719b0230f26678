import type { Acl } from '../../../zookeeper/wire/records.js';
import { OPEN_ACL, READ_ONLY_ACL } from './acl.js';
import { newZnode, PERSISTENT } from './znode.js';
import type { Znode } from './znode.js';

/** Paths that no client may delete. */
export const SPECIAL_PATHS: ReadonlySet<string> = new Set(['/', '/zookeeper', '/zookeeper/quota', '/zookeeper/config']);

/** Returns the znodes of a fresh server. */
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

function znodeOf(acl: readonly Acl[], ...children: readonly string[]): Znode {
  const znode = newZnode(Buffer.alloc(0), acl, PERSISTENT, { zxid: 0n, timeMs: 0 });
  for (const child of children) znode.children.add(child);
  return znode;
}
