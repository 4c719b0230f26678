import { CONTAINER_CHECK_MS, PATIENCE_MS, SUPER_DIGEST, TICK_MS } from './tested-server.js';
import type { ServerSettings, TestedServer } from './tested-server.js';

export async function startEmbeddedServer(settings: ServerSettings = {}): Promise<TestedServer> {
  throw new Error(String([settings, CONTAINER_CHECK_MS, PATIENCE_MS, SUPER_DIGEST, TICK_MS]));
}
