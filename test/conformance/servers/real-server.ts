import { ZooKeeperServer } from '../../../lib/testing/zookeeper-server.js';
import { CONTAINER_CHECK_MS, PATIENCE_MS, SUPER_DIGEST, TICK_MS } from './tested-server.js';
import type { ServerSettings, TestedServer } from './tested-server.js';

/** Apache ZooKeeper, whose behaviour is correct by definition. */
export async function startRealServer(settings: ServerSettings = {}): Promise<TestedServer> {
  const { extendedTypes = true, containerCheckMs = CONTAINER_CHECK_MS } = settings;
  const server = await ZooKeeperServer.start({
    tickTimeMs: TICK_MS,
    containerCheckIntervalMs: containerCheckMs,
    systemProperties: {
      'zookeeper.extendedTypesEnabled': String(extendedTypes),
      'zookeeper.DigestAuthenticationProvider.superDigest': SUPER_DIGEST,
    },
  });
  return { name: 'real', port: server.port, patienceMs: PATIENCE_MS, [Symbol.asyncDispose]: () => server.stop() };
}
