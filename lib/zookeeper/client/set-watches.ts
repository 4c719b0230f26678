/**
 * Setting watches. One request sets any number of them. The server compares with a zxid: the watch of a znode that was
 * deleted, or changed after that, fires at once. That event arrives before the reply.
 */
import { deferred } from '../../async/deferred.js';
import { OpCode } from '../wire/codes.js';
import { setWatchesRecord } from '../wire/records.js';
import { isConnectionLoss } from './keeper-error.js';
import { PendingRequest, readNothing } from './pending-request.js';
import type { WatchKind, WatchTable, WatchTables } from './watch-table.js';

// Far below the server's limit of 1 MB for a request. Beyond that limit the server closes the connection, every time.
const BATCH_BYTES = 100 * 1024;

/** Larger than every zxid: no earlier change counts. */
const NEVER_YET = 2n ** 63n - 1n;

/** The data watches that were requested in one turn of the event loop. */
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
