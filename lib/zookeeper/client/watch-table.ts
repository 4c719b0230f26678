import { StringMap } from '../../async/collections.js';
import { deferred } from '../../async/deferred.js';
import { OpCode } from '../wire/codes.js';
import { setWatchesRecord } from '../wire/records.js';
import { isConnectionLoss } from './keeper-error.js';
import { PendingRequest, readNothing } from './pending-request.js';

/** The event of a watched znode. */
export type WatchEvent = 'created' | 'deleted' | 'changed' | 'children' | 'unknown';

/** An object that is notified of the one event of a watch. */
export interface Watcher {
  happened(event: WatchEvent): void;
}

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
  #watchers = new StringMap<Watcher[]>();

  get paths(): readonly string[] {
    return this.#watchers.names;
  }

  /** Registers a one-shot watcher. */
  add(path: string, watcher: Watcher): void {
    const watchers = this.#watchers.get(path);
    if (watchers) watchers.push(watcher);
    else this.#watchers.set(path, [watcher]);
  }

  /** Removes a watcher. Returns whether it was the last one of the path. */
  remove(path: string, watcher: Watcher): boolean {
    const watchers = this.#watchers.get(path);
    const place = watchers?.indexOf(watcher) ?? -1;
    if (!watchers || place < 0) return false;
    watchers.splice(place, 1);
    return watchers.length === 0 && this.#watchers.delete(path);
  }

  fire(path: string, event: WatchEvent): void {
    const watchers = this.#watchers.get(path);
    this.#watchers.delete(path);
    for (const watcher of watchers ?? []) watcher.happened(event);
  }

  clear(): void {
    this.#watchers = new StringMap();
  }
}

/** A watch that has been set. It has one event at most. */
export interface Watch {
  /** Resolves with the event. */
  readonly fired: Promise<WatchEvent>;
  /** Removes the watch, here and on the server. */
  remove(): void;
}

/** A watch that can do without a promise. It has one listener: `listen` is called, or `fired` is read. */
export interface NodeWatch extends Watch {
  /** Notifies `watcher` of the event: in the turn in which it arrives, or at once if it has arrived. */
  listen(watcher: Watcher): void;
}

/**
 * A watch in one of the tables, from before it is set on the server. If it cannot be set, its creator forgets it.
 * Methods, not closures: many contenders wait.
 */
export class TableWatch implements NodeWatch, Watcher {
  readonly path: string;
  readonly kind: WatchKind;
  readonly #tables: WatchTables;
  readonly #unset: (watch: TableWatch) => void;
  /** The event, once there was one. */
  event: WatchEvent | undefined = undefined;
  #watcher: Watcher | undefined;
  #fired: Promise<WatchEvent> | undefined;

  /** @param unset called when the last watch of the path was removed, so that the server need not keep it */
  constructor(tables: WatchTables, kind: WatchKind, path: string, unset: (watch: TableWatch) => void) {
    this.#tables = tables;
    this.kind = kind;
    this.path = path;
    this.#unset = unset;
    tables[kind].add(path, this);
  }

  get fired(): Promise<WatchEvent> {
    return (this.#fired ??= new Promise((resolve) => this.listen({ happened: resolve })));
  }

  listen(watcher: Watcher): void {
    this.#watcher = watcher;
    if (this.event) watcher.happened(this.event);
  }

  happened(event: WatchEvent): void {
    this.event = event;
    this.#watcher?.happened(event);
  }

  /** Removes a watch that could not be set. Returns whether it was the last one of its path. */
  forget(): boolean {
    return this.#tables[this.kind].remove(this.path, this);
  }

  remove(): void {
    if (this.forget()) this.#unset(this);
  }
}

// Far below the server's limit of 1 MB for a request. Beyond that limit the server closes the connection, every time.
const BATCH_BYTES = 100 * 1024;

/** Larger than every zxid: no earlier change counts. */
const NEVER_YET = 2n ** 63n - 1n;

/**
 * The data watches that were requested in one turn of the event loop. One request sets any number of them. The server
 * compares with a zxid: the watch of a znode that was deleted, or changed after that, fires at once. That event arrives
 * before the reply.
 */
export class TurnWatches {
  readonly paths: string[] = [];
  /** A change after this zxid fires a watch. */
  since = NEVER_YET;
  /** Settles when all of them are set. */
  readonly set = deferred();

  /** Returns the requests that set the watches: one, unless there are very many. */
  toRequests(): readonly PendingRequest[] {
    const requests = watchBatches(this.paths).map(
      (paths) =>
        new PendingRequest(OpCode.setWatches, setWatchesRecord(this.since, paths, 'data'), undefined, readNothing),
    );
    Promise.all(requests.map(({ reply }) => reply)).then(() => this.set.resolve(), this.set.reject);
    return requests;
  }
}

type Send = (request: PendingRequest) => Promise<unknown>;

/** Sets all watches again on a new connection. Watches that missed an event since `lastZxid` fire at once. */
export function resetWatches(watches: WatchTables, lastZxid: bigint, send: Send): void {
  resetKind('data', watches.data, lastZxid, send);
  resetKind('children', watches.children, lastZxid, send);
}

function resetKind(kind: WatchKind, watches: WatchTable, lastZxid: bigint, send: Send): void {
  for (const paths of watchBatches(watches.paths)) {
    const record = setWatchesRecord(lastZxid, paths, kind);
    send(new PendingRequest(OpCode.setWatches, record, undefined, readNothing)).catch((error: unknown) => {
      // If the request was refused, the watches are not set: their owners have to look again. If the connection was
      // lost, they are set on the next one.
      if (!isConnectionLoss(error)) paths.forEach((path) => watches.fire(path, 'unknown'));
    });
  }
}

/** The paths of watches, in batches that fit into one request each. */
export function watchBatches(paths: readonly string[]): string[][] {
  const batches: string[][] = [];
  let room = 0;
  for (const path of paths) {
    const bytes = Buffer.byteLength(path) + 4;
    if (bytes > room) {
      batches.push([]);
      room = BATCH_BYTES;
    }
    batches.at(-1)?.push(path);
    room -= bytes;
  }
  return batches;
}
