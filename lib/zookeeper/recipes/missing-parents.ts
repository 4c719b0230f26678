import { isKeeperError } from '../session/requests.js';
import type { Requests } from '../session/requests.js';
import { withAncestors } from '../session/znode-path.js';

/** Of the znodes that these paths need above them, those that are not there, from the top down. */
export async function missingParents(
  requests: Pick<Requests, 'read'>,
  paths: readonly string[],
): Promise<readonly string[]> {
  const missing = new Set<string>();
  for (const path of paths) {
    for (const parent of withAncestors(path).slice(1)) {
      if (missing.has(parent) || (await isThere(requests, parent))) break;
      missing.add(parent);
    }
  }
  return [...missing].sort((a, b) => a.length - b.length);
}

async function isThere(requests: Pick<Requests, 'read'>, path: string): Promise<boolean> {
  try {
    await requests.read(path);
    return true;
  } catch (error) {
    if (isKeeperError(error, 'noNode')) return false;
    throw error;
  }
}
