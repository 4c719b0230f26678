import type { Dispose } from '../../async/abort.js';
import { StringMap } from '../../async/collections.js';

/** The event of a watched znode. */
export type WatchEvent = 'created' | 'deleted' | 'changed' | 'children' | 'unknown';

const EVENTS: Readonly<Record<number, WatchEvent>> = { 1: 'created', 2: 'deleted', 3: 'changed', 4: 'children' };

export function watchEventOf(type: number): WatchEvent {
  return EVENTS[type] ?? 'unknown';
}

type Watcher = (event: WatchEvent) => void;

/** The kind of a watch: on a znode and its data, or on its list of children. */
export type WatchKind = 'data' | 'children';

/** The watchers of all znodes, by the kind of the watch. */
export class WatchTables {
  readonly data = new WatchTable();
  readonly children = new WatchTable();

  /** Fires the watches for an event from a server. A deletion fires both kinds. */
  fire(path: string, event: WatchEvent): void {
    if (event !== 'children') this.data.fire(path, event);
    if (event === 'children' || event === 'deleted') this.children.fire(path, event);
  }

  clear(): void {
    this.data.clear();
    this.children.clear();
  }
}

/**
 * The watchers of one kind. The server keeps one watch per path and connection, and this class shares it among many
 * watchers.
 */
export class WatchTable {
  #watchers = new StringMap<Set<Watcher>>();

  get paths(): readonly string[] {
    return this.#watchers.names;
  }

  /** Registers a one-shot watcher. Disposing returns whether it was the last watcher of the path. */
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

/** A watch that has been set: the promise of its one event, and the function that removes it. */
export interface Watch {
  readonly fired: Promise<WatchEvent>;
  readonly remove: Dispose;
}
