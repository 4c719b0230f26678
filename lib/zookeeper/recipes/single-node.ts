/**
 * Exclusive lock without a line, for those who ask once: two round trips, one to take and one to give back.
 * Znodes: `<path>/lock-0000000000`, ephemeral, one for all; whoever creates it holds.
 * Who waits for whom: nobody. Its number is before all that a line gives out, so contenders in a line wait for it;
 * it is taken only when nobody stands in line, which the list that comes with the create tells.
 * Session loss: the servers remove the znode; the holder's lease is lost before that.
 * Source: the exclusive lock on one ephemeral znode, the simplest there is.
 */
import type { GrantedLease } from '../../contract/granted-lease.js';
import type { LockRequest } from '../../contract/lock-request.js';
import { isKeeperError } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { acquireEntered } from './acquire.js';
import type { Turn } from './acquire.js';
import type { LockDirectory } from './lock-directory.js';
import { PlaceLostError } from './place-lost-error.js';
import { hasOthers } from './standing.js';
import { enterAlone } from './protected-create.js';

export async function acquireSingleNode(
  session: Session,
  directory: LockDirectory,
  request: LockRequest,
): Promise<GrantedLease | null> {
  const turn: Turn = {
    isNow: () => false,
    comes: async ({ contender, names }, signal) => {
      const look = () => session.persistently(() => session.requests.children(directory.path), signal);
      const present = names ?? (await look());
      if (!present.includes(contender.name)) throw new PlaceLostError(contender.path);
      return !hasOthers(contender.name, present);
    },
  };
  try {
    return await acquireEntered(session, directory, request, enterAlone(session, directory, request), turn);
  } catch (error) {
    if (isKeeperError(error, 'nodeExists')) return null;
    throw error;
  }
}
