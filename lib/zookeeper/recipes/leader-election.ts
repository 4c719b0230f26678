/**
 * One leader at a time.
 * Znodes: `<path>/_c_<uuid>-latch-<number>`, ephemeral and sequential, one a candidate; its data is the participant's id.
 * Beside them `<path>%candidates/<uuid>`, ephemeral, with what the candidate proclaims, see `Candidacy`.
 * Who waits for whom: each candidate for the nearest before it; it watches that one. Contenders for a lock on the same path
 * stand in a line of their own.
 * Session loss: the servers remove the znodes. A leader's term is lost before that; a candidate stands again, at the end.
 * Source: ZooKeeper Recipes, "Leader Election"; the names are those of Curator's LeaderLatch.
 */
import type { CampaignRequest, WonElection } from '../../contract/elections.js';
import type { Session } from '../session/session.js';
import { acquireEntered } from './acquire.js';
import { Candidacy } from './candidacy.js';
import { participantId } from './candidate-data.js';
import type { LockDirectory } from './lock-directory.js';
import { enterLine } from './protected-create.js';
import { turnInLine } from './turn-in-line.js';

export async function campaignIn(
  session: Session,
  directory: LockDirectory,
  request: CampaignRequest,
): Promise<WonElection | null> {
  const { signal, wait, label } = request;
  const candidacy = new Candidacy(session, directory, request);
  const before = (id: string) => candidacy.announce(id);
  try {
    const entering = enterLine(session, directory, 'latch', { signal, data: participantId(label), before });
    const lease = await acquireEntered(session, directory, request, entering, turnInLine(session, wait));
    if (lease) return candidacy.elected(lease);
    candidacy.withdraw();
    return null;
  } catch (error) {
    candidacy.withdraw();
    throw error;
  }
}
