/**
 * The difference from the server of the tests: each write waits for the disk, as on a server that must not lose data.
 */
export const SETTINGS = { forceSync: 'yes', preAllocSize: 65_536 };

/** The heap that ZooKeeper's own script configures. Of repeated flags of a Java machine, the last one wins. */
const FLAGS = '-Xmx1000m -XX:TieredStopAtLevel=4';

/** The servers of the tests start quickly; these are configured for a long run. */
export async function asInProduction<T>(start: () => Promise<T>): Promise<T> {
  const before = process.env['_JAVA_OPTIONS'];
  process.env['_JAVA_OPTIONS'] = FLAGS;
  try {
    return await start();
  } finally {
    if (before === undefined) delete process.env['_JAVA_OPTIONS'];
    else process.env['_JAVA_OPTIONS'] = before;
  }
}
