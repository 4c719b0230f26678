import type { Acl } from '../../../zookeeper/wire/records.js';
import type { MadeChange } from '../tree/change.js';
import type { DataTree } from '../tree/data-tree.js';
import { watchedParentOf } from '../tree/znode-path.js';
import { WatchEvent } from './watch-event.js';
import { WatchTable } from './watch-table.js';
import type { WatchMode, Watcher } from './watch-table.js';

export type WatchKind = 'data' | 'children';

/**
 * The watches that a client wants to restore on a new connection, and the last zxid up to which it was notified of
 * everything.
 */
export interface WatchedBefore {
  readonly zxid: bigint;
  readonly data: readonly string[];
  readonly exist: readonly string[];
  readonly children: readonly string[];
  readonly persistent: readonly string[];
  readonly recursive: readonly string[];
}

/** The watches of the connections of one server. */
export class Watches<W extends Watcher = Watcher> {
  readonly data = new WatchTable<W>();
  readonly children = new WatchTable<W>();

  /** Notifies the watchers of a change, in ZooKeeper's order. */
  fire({ change, acl, parentAcl }: MadeChange): void {
    const { path } = change;
    switch (change.type) {
      case 'create':
        this.data.fire({ event: WatchEvent.created, path, acl });
        this.#fireParent(path, parentAcl);
        break;
      case 'delete': {
        const deleted = { event: WatchEvent.deleted, path, acl };
        this.children.fire(deleted, this.data.fire(deleted));
        this.#fireParent(path, parentAcl);
        break;
      }
      case 'setData':
        this.data.fire({ event: WatchEvent.dataChanged, path, acl });
        break;
      case 'setAcl':
        break;
    }
  }

  #fireParent(child: string, acl: readonly Acl[]): void {
    this.children.fire({ event: WatchEvent.childrenChanged, path: watchedParentOf(child), acl });
  }

  /** Adds a persistent watch, which is a watch on both the data and the children. */
  addPersistent(path: string, watcher: W, mode: WatchMode): void {
    this.data.add(path, watcher, mode);
    this.children.add(path, watcher, mode);
  }

  /** Notifies at once of what has happened meanwhile, and restores all other watches. */
  catchUp(tree: DataTree, watcher: W, before: WatchedBefore): void {
    for (const path of before.data) this.#catchUpData(tree, watcher, path, before.zxid);
    for (const path of before.exist) {
      if (tree.get(path)) watcher.notify(WatchEvent.created, path);
      else this.data.add(path, watcher, 'oneShot');
    }
    for (const path of before.children) this.#catchUpChildren(tree, watcher, path, before.zxid);
    for (const path of before.persistent) this.addPersistent(path, watcher, 'persistent');
    for (const path of before.recursive) this.addPersistent(path, watcher, 'recursive');
  }

  #catchUpData(tree: DataTree, watcher: W, path: string, zxid: bigint): void {
    const znode = tree.get(path);
    if (!znode) watcher.notify(WatchEvent.deleted, path);
    else if (znode.mzxid > zxid) watcher.notify(WatchEvent.dataChanged, path);
    else this.data.add(path, watcher, 'oneShot');
  }

  #catchUpChildren(tree: DataTree, watcher: W, path: string, zxid: bigint): void {
    const znode = tree.get(path);
    if (!znode) watcher.notify(WatchEvent.deleted, path);
    else if (znode.pzxid > zxid) watcher.notify(WatchEvent.childrenChanged, path);
    else this.children.add(path, watcher, 'oneShot');
  }

  remove(path: string, watcher: W, kinds: readonly WatchKind[]): boolean {
    // Both tables are asked, even if the first one has a watch.
    return kinds.map((kind) => this[kind].remove(path, watcher)).includes(true);
  }

  contains(path: string, kinds: readonly WatchKind[]): boolean {
    return kinds.some((kind) => this[kind].contains(path));
  }

  removeAll(watcher: W): void {
    this.data.removeAll(watcher);
    this.children.removeAll(watcher);
  }

  get count(): number {
    return this.data.count + this.children.count;
  }

  watchersOf(path: string): ReadonlySet<W> {
    return new Set([...this.data.watchersOf(path), ...this.children.watchersOf(path)]);
  }
}
