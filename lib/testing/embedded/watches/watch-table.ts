import type { Acl } from '../../../zookeeper/wire/records.js';
import { selfAndAncestors } from '../tree/znode-path.js';
import { WatchEvent } from './watch-event.js';

/** The extent of a watch: until its first event; until removed; until removed, including all descendants. */
export type WatchMode = 'oneShot' | 'persistent' | 'recursive';

/** An event, its path, and the ACL of the znode. */
export interface Firing {
  readonly event: WatchEvent;
  readonly path: string;
  readonly acl: readonly Acl[];
}

/** The receiver of notifications, which is a connection. */
export interface Watcher {
  /** `acl`: only its readers may be notified; without one, every watcher may. */
  notify(event: WatchEvent, path: string, acl?: readonly Acl[]): void;
}

/** The watches of one kind: on the data of znodes, or on their children. */
export class WatchTable<W extends Watcher = Watcher> {
  readonly #watchers = new Map<string, Map<W, WatchMode>>();
  readonly #paths = new Map<W, Set<string>>();
  #recursive = 0;

  /** Adds a watch. As in ZooKeeper 3.8, a connection has one mode for a path, which is the one it requested last. */
  add(path: string, watcher: W, mode: WatchMode): void {
    const watchers = this.#watchers.get(path) ?? new Map<W, WatchMode>();
    if (watchers.get(watcher) === 'recursive') this.#recursive--;
    if (mode === 'recursive') this.#recursive++;
    this.#watchers.set(path, watchers.set(watcher, mode));
    const paths = this.#paths.get(watcher) ?? new Set();
    this.#paths.set(watcher, paths.add(path));
  }

  /** Notifies all watchers of the event except those in `except`. Returns all watchers of the event. */
  fire({ event, path, acl }: Firing, except?: ReadonlySet<W>): ReadonlySet<W> {
    const concerned = new Set<W>();
    for (const at of this.#recursive > 0 ? selfAndAncestors(path) : [path]) this.#collect(at, path, event, concerned);
    for (const watcher of concerned) if (!except?.has(watcher)) watcher.notify(event, path, acl);
    return concerned;
  }

  #collect(at: string, path: string, event: WatchEvent, concerned: Set<W>): void {
    for (const [watcher, mode] of this.#watchers.get(at) ?? []) {
      const concerns = mode === 'recursive' ? event !== WatchEvent.childrenChanged : at === path;
      if (concerns) concerned.add(watcher);
      if (concerns && mode === 'oneShot') this.remove(at, watcher);
    }
  }

  /** Returns whether there was one. */
  remove(path: string, watcher: W): boolean {
    const watchers = this.#watchers.get(path);
    const mode = watchers?.get(watcher);
    if (!watchers || !mode) return false;
    if (mode === 'recursive') this.#recursive--;
    watchers.delete(watcher);
    if (watchers.size === 0) this.#watchers.delete(path);
    const paths = this.#paths.get(watcher);
    paths?.delete(path);
    if (paths?.size === 0) this.#paths.delete(watcher);
    return true;
  }

  removeAll(watcher: W): void {
    for (const path of this.pathsOf(watcher)) this.remove(path, watcher);
  }

  /**
   * Whether any connection watches the path. Asked whether this connection does, ZooKeeper 3.8.0 checks no more than
   * that.
   */
  contains(path: string): boolean {
    return path !== '' && this.#watchers.has(path);
  }

  get count(): number {
    return [...this.#paths.values()].reduce((sum, paths) => sum + paths.size, 0);
  }

  watchersOf(path: string): W[] {
    return [...(this.#watchers.get(path)?.keys() ?? [])];
  }

  pathsOf(watcher: W): string[] {
    return [...(this.#paths.get(watcher) ?? [])];
  }

  watchers(): W[] {
    return [...this.#paths.keys()];
  }

  paths(): string[] {
    return [...this.#watchers.keys()];
  }
}
