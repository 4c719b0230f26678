import type { Dispose } from '../../async/abort.js';
import { StringMap } from '../../async/collections.js';

/** What happened to a watched znode. */
export type WatchEvent = 'created' | 'deleted' | 'changed' | 'children' | 'unknown';

const EVENTS: Readonly<Record<number, WatchEvent>> = { 1: 'created', 2: 'deleted', 3: 'changed', 4: 'children' };

export function watchEventOf(type: number): WatchEvent {
  return EVENTS[type] ?? 'unknown';
}

type Watcher = (event: WatchEvent) => void;

/** What a watch is on: a znode and its data, or which children it has. */
export type WatchKind = 'data' | 'children';

/** Who waits for news of which znode, by what they watch of it. */
export class WatchTables {
  readonly data = new WatchTable();
  readonly children = new WatchTable();

  /** What a server says has happened; a znode that is gone is news to both. */
  fire(path: string, event: WatchEvent): void {
    if (event !== 'children') this.data.fire(path, event);
    if (event === 'children' || event === 'deleted') this.children.fire(path, event);
  }

  clear(): void {
    this.data.clear();
    this.children.clear();
  }
}

/** Who waits for news of one kind. The server keeps one watch a path and connection; this shares it among many. */
export class WatchTable {
  #watchers = new StringMap<Set<Watcher>>();

  get paths(): readonly string[] {
    return this.#watchers.names;
  }

  /** Registers a one-shot watcher; disposing tells whether it was the path's last. */
  add(path: string, watcher: Watcher): () => boolean {
    const watchers = this.#watchers.get(path) ?? new Set();
    this.#watchers.set(path, watchers.add(watcher));
    return () => this.#remove(path, watchers, watcher);
  }

  fire(path: string, event: WatchEvent): void {
    const watchers = this.#watchers.get(path);
    this.#watchers.delete(path);
    watchers?.forEach((watcher) => watcher(event));
  }

  clear(): void {
    this.#watchers = new StringMap();
  }

  #remove(path: string, watchers: Set<Watcher>, watcher: Watcher): boolean {
    const isRegistered = this.#watchers.get(path) === watchers && watchers.delete(watcher);
    if (!isRegistered || watchers.size > 0) return false;
    return this.#watchers.delete(path);
  }
}

/** A watch that has been set: its one event, and the way to take it back. */
export interface Watch {
  readonly fired: Promise<WatchEvent>;
  readonly remove: Dispose;
}
