import { isKeeperError } from '../session/requests.js';
import type { Requests } from '../session/requests.js';
import { withAncestors } from '../session/znode-path.js';

/** Of the znodes that these paths need above them, those that are not there, from the top down. */
export async function missingParents(
  requests: Pick<Requests, 'read'>,
  paths: readonly string[],
): Promise<readonly string[]> {
  const parents = [...new Set(paths.flatMap((path) => withAncestors(path).slice(1)))];
  const areThere = await Promise.all(parents.map((parent) => isThere(requests, parent)));
  return parents.filter((_, place) => !areThere[place]).sort((a, b) => a.length - b.length);
}

async function isThere(requests: Pick<Requests, 'read'>, path: string): Promise<boolean> {
  try {
    await requests.read(path);
    return true;
  } catch (error) {
    if (isKeeperError(error, 'noNode')) return false;
    // What may not be read is there.
    if (isKeeperError(error, 'noAuth')) return true;
    throw error;
  }
}
