/** What the server of the tests leaves out, and a server that must not forget has: each write waits for the disk. */
export const SETTINGS = { forceSync: 'yes', preAllocSize: 65_536 };

/** As much heap as ZooKeeper's own script gives it. Of the flags that a Java machine is started with, these count last. */
const FLAGS = '-Xmx1000m -XX:TieredStopAtLevel=4';

/** The servers of the tests are started to be there soon, these to serve for long. */
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
