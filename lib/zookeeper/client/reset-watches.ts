import { OpCode } from '../wire/op-codes.js';
import { setWatchesRecord } from '../wire/records.js';
import { isConnectionLoss } from './keeper-error.js';
import { PendingRequest } from './pending-request.js';
import type { Reply } from './pending-request.js';
import { watchBatches } from './watch-batches.js';
import type { WatchTable } from './watch-table.js';

/** Sets all watches again on a new connection; those fire at once that missed something since `lastZxid`. */
export function resetWatches(watches: WatchTable, lastZxid: bigint, send: (request: PendingRequest) => Promise<Reply>) {
  for (const paths of watchBatches(watches.paths)) {
    const request = new PendingRequest(OpCode.setWatches, setWatchesRecord(lastZxid, paths));
    send(request).catch((error: unknown) => {
      // Refused, the watches are not there: whoever relies on one has to look again. Lost, they are set next time.
      if (!isConnectionLoss(error)) paths.forEach((path) => watches.fire(path, 'unknown'));
    });
  }
}
