import { EmbeddedZooKeeper } from '../../../lib/testing/embedded/embedded-zookeeper.js';
import { CONTAINER_CHECK_MS, PATIENCE_MS, SUPER_DIGEST, TICK_MS } from './tested-server.js';
import type { ServerSettings, TestedServer } from './tested-server.js';

/** The embedded server, in this process. */
export async function startEmbeddedServer(settings: ServerSettings = {}): Promise<TestedServer> {
  const server = await startAlike(EmbeddedZooKeeper, settings);
  return { name: 'embedded', port: server.port, patienceMs: PATIENCE_MS, [Symbol.asyncDispose]: () => server.stop() };
}

/** Starts an embedded server that can be compared with a real server with the same settings. */
export function startAlike(
  embedded: Pick<typeof EmbeddedZooKeeper, 'start'>,
  { extendedTypes = true, containerCheckMs = CONTAINER_CHECK_MS }: ServerSettings,
): Promise<EmbeddedZooKeeper> {
  return embedded.start({
    tickTimeMs: TICK_MS,
    containerCheckIntervalMs: containerCheckMs,
    extendedTypes,
    superDigest: SUPER_DIGEST,
  });
}
