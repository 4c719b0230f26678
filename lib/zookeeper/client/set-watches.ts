import { setWatchesRecord } from '../wire/records.js';

// Far below the server's limit of 1 MB for a request, which would close the connection again and again.
const BATCH_BYTES = 100 * 1024;

/** The bodies of the requests that set data watches again after a reconnect, each small enough for the server. */
export function setWatchesBodies(relativeZxid: bigint, paths: readonly string[]): Buffer[] {
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
  return batches.map((batch) => setWatchesRecord(relativeZxid, batch));
}
