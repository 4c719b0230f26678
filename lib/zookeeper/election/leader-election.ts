/**
 * Leader election: one leader at a time.
 * Znodes: `<path>/_c_<uuid>-latch-<number>`, ephemeral and sequential, one per candidate; its data is the participant's
 * id. Beside them `<path>%candidates/<uuid>`, ephemeral, with what the candidate proclaims, see `Candidacy`.
 * Waiting: each candidate waits for the nearest before it, and watches that one. Contenders for a lock on the same path
 * have a wait queue of their own.
 * Session loss: the servers remove the znodes. A leader's term is lost before that. A candidate queues again, at the
 * end.
 * Source: ZooKeeper Recipes, "Leader Election"; the names are those of Curator's LeaderLatch.
 */
import { OwnAbortController, withAnyAbort } from '../../async/abort.js';
import { pause } from '../../async/timer.js';
import type { CampaignRequest, Leader, Sighting, WonElection } from '../../contract/elections.js';
import { fencingTokenOf } from '../../contract/granted-lease.js';
import type { LockDirectory } from '../recipes/lock-directory.js';
import { enterQueue } from '../recipes/protected-create.js';
import { acquireEntered, QueueTurn } from '../recipes/wait-for-turn.js';
import { WaitQueueSnapshot } from '../recipes/wait-queue-snapshot.js';
import type { Stat } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { unlessMissing, untilChanged, untilChildrenChanged } from '../session/watch.js';
import { withAncestors } from '../recipes/znode-path.js';
import { Candidacy, candidateIn, participantId, profilePath } from './candidacy.js';

export async function campaignIn(
  session: Session,
  directory: LockDirectory,
  request: CampaignRequest,
): Promise<WonElection | null> {
  const { signal, wait, label } = request;
  const candidacy = new Candidacy(session, directory, request);
  const before = (id: string) => candidacy.announce(id);
  try {
    const entering = enterQueue(session, directory, 'latch', { signal, data: participantId(label), before });
    const lease = await acquireEntered(session, directory, request, entering, new QueueTurn(session, wait));
    if (lease) return candidacy.elected(lease);
    candidacy.withdraw();
    return null;
  } catch (error) {
    candidacy.withdraw();
    throw error;
  }
}

type Asked = Pick<Session, 'id' | 'signal' | 'requests' | 'persistently'>;

interface Seen {
  readonly path: string;
  readonly data: Buffer;
  readonly stat: Stat;
}

// A parent has other children than the election's directory, and they are created and deleted too.
const LOOK_AGAIN_MS = 50;

/** The leader as it is now. @throws KeeperError, SessionEndedError, `signal.reason` */
export async function lookForLeader(session: Asked, path: string, signal: AbortSignal): Promise<Sighting> {
  const ask = <T>(request: () => Promise<T>) => session.persistently(request, signal);
  const seen = async (at: string): Promise<Seen | undefined> => {
    const found = await unlessMissing(
      ask(() => session.requests.read(at)),
      undefined,
    );
    return found && { ...found, path: at };
  };
  // The connected server may be behind what this process has seen through another one.
  await ask(() => session.requests.sync(path));
  for (;;) {
    const first = firstOf(
      await unlessMissing(
        ask(() => session.requests.children(path)),
        [],
      ),
    );
    if (first === undefined) return sighting(session, null, (until) => untilSomebodyStands(session, path, until));
    const profileAt = profilePath(path, first);
    const profile = profileAt === undefined ? undefined : await seen(profileAt);
    const latch = await seen(`${path}/${first}`);
    if (!latch) continue;
    const leader = leaderOf(latch, profile, session.id);
    return sighting(session, leader, (until) => untilAnother(session, latch, profile, until));
  }
}

/** The leader that was seen. `changed` also ends with the session: none of its watches fires after that. */
function sighting(session: Asked, leader: Leader | null, news: Sighting['changed']): Sighting {
  return { leader, changed: (signal) => withAnyAbort([signal, session.signal], news) };
}

function firstOf(names: readonly string[]): string | undefined {
  return new WaitQueueSnapshot(names, 'candidates').inOrder[0]?.name;
}

function leaderOf({ data, stat }: Seen, profile: Seen | undefined, sessionId: bigint): Leader {
  const { owner = {}, value, since } = profile ? candidateIn(profile.data) : {};
  return {
    id: data.toString(),
    owner,
    value,
    since: since ?? new Date(Number(stat.ctime)),
    fencingToken: fencingTokenOf(stat.czxid),
    isOwn: stat.ephemeralOwner === sessionId,
  };
}

/**
 * Resolves when the leader's znode or its profile changes. No candidate can be created before the leader, so it leads
 * until its own znode is deleted.
 */
async function untilAnother(session: Asked, latch: Seen, profile: Seen | undefined, signal: AbortSignal) {
  const over = new OwnAbortController();
  const changes = [latch, profile].filter((one) => one !== undefined);
  await withAnyAbort([signal, over.signal], (limit) =>
    Promise.race(changes.map(({ path, stat }) => untilChanged(session, path, limit, stat))),
  ).finally(() => over.abort());
}

/**
 * Resolves when a candidate may have been created. When the directory or parents of it do not exist, the nearest
 * existing parent is watched for the missing child.
 */
async function untilSomebodyStands(session: Asked, path: string, signal: AbortSignal): Promise<void> {
  let missing: string | undefined;
  for (const at of [...withAncestors(path), '/']) {
    const awaited = missing?.slice(missing.lastIndexOf('/') + 1);
    const isNews = (names: readonly string[]) =>
      awaited === undefined ? firstOf(names) !== undefined : names.includes(awaited);
    const hasChanged = await untilChildrenChanged(session, at, signal, isNews);
    if (hasChanged) return missing === undefined ? undefined : pause(LOOK_AGAIN_MS, signal);
    missing = at;
  }
}
