import type { ServerCommand } from './zookeeper-distribution.js';

/** Settings of `zoo.cfg`, by name. */
export type ZooKeeperSettings = Readonly<Record<string, string | number | boolean>>;

/**
 * Returns the text of `zoo.cfg` for a standalone test server that starts quickly and is reachable from this machine
 * only.
 */
export function zooKeeperConfig(command: ServerCommand, tickTimeMs: number, further: ZooKeeperSettings = {}): string {
  const settings: ZooKeeperSettings = {
    tickTime: tickTimeMs,
    dataDir: command.dataDir,
    clientPort: command.clientPort,
    clientPortAddress: command.clientAddress,
    maxClientCnxns: 0,
    '4lw.commands.whitelist': '*',
    'admin.enableServer': false,
    'autopurge.purgeInterval': 0,
    // A test's data need not survive a power failure. Without waiting for the disk, the suite is several times faster.
    forceSync: 'no',
    preAllocSize: 4096,
    ...further,
  };
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}
