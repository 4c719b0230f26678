import type { ServerCommand } from './zookeeper-distribution.js';

/** Lines of `zoo.cfg`. */
export type ZooKeeperSettings = Readonly<Record<string, string | number | boolean>>;

/** The text of `zoo.cfg` for a server of its own, quick to start and reachable from this machine only. */
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
    // A test's data need not survive a power cut; without the waits for the disk the suite is several times faster.
    forceSync: 'no',
    preAllocSize: 4096,
    ...further,
  };
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}
