import { OpCode } from '../wire/op-codes.js';
import { setWatchesRecord } from '../wire/records.js';
import { isConnectionLoss } from './keeper-error.js';
import { PendingRequest, readNothing } from './pending-request.js';
import { watchBatches } from './watch-batches.js';
import type { WatchKind, WatchTable, WatchTables } from './watch-table.js';

type Send = (request: PendingRequest) => Promise<unknown>;

/** Sets all watches again on a new connection; those fire at once that missed something since `lastZxid`. */
export function resetWatches(watches: WatchTables, lastZxid: bigint, send: Send): void {
  resetKind('data', watches.data, lastZxid, send);
  resetKind('children', watches.children, lastZxid, send);
}

function resetKind(kind: WatchKind, watches: WatchTable, lastZxid: bigint, send: Send): void {
  for (const paths of watchBatches(watches.paths)) {
    const request = new PendingRequest(
      OpCode.setWatches,
      setWatchesRecord(lastZxid, paths, kind),
      undefined,
      readNothing,
    );
    send(request).catch((error: unknown) => {
      // Refused, the watches are not there: whoever relies on one has to look again. Lost, they are set next time.
      if (!isConnectionLoss(error)) paths.forEach((path) => watches.fire(path, 'unknown'));
    });
  }
}
