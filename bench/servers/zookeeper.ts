import { ZooKeeperServer } from '../../lib/testing/index.js';
import type { Server } from './server.js';
import { asInProduction, SETTINGS } from './zookeeper-settings.js';
import { countsOf } from './zookeeper-counts.js';

/** One ZooKeeper server. */
export async function startZooKeeper(): Promise<Server> {
  const server = await asInProduction(() => ZooKeeperServer.start({ tickTimeMs: 2_000, settings: SETTINGS }));
  return {
    address: server.connectString,
    counts: () => countsOf([server]),
    stop: () => server.stop(),
  };
}
