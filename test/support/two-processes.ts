import { freshBasePath } from './base-path.js';
import { openService } from './services.js';
import { openClient } from './znodes.js';

/** Two services with a session each, as in two processes, and a client that observes from outside. */
export async function twoProcesses(connectString: string) {
  const basePath = freshBasePath();
  const [one, other, client] = await Promise.all([
    openService({ connectString, basePath }),
    openService({ connectString, basePath }),
    openClient(connectString),
  ]);
  return { one, other, client, basePath };
}
