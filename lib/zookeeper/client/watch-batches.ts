// Far below the server's limit of 1 MB for a request, beyond which it closes the connection, again and again.
const BATCH_BYTES = 100 * 1024;

/** The paths of the watches to set again after a reconnect, in batches small enough for one request each. */
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
