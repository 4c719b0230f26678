import { LockLostError } from '../contract/errors.js';
import type { CampaignRequest, Elections, Sighting, WonElection } from '../contract/elections.js';
import type { GrantedLease } from '../contract/granted-lease.js';
import { explained, inSession } from './session-retry.js';
import type { Attempt } from './session-retry.js';
import type { LockDirectory } from './recipes/lock-directory.js';
import type { NodePaths } from './node-paths.js';
import { campaignIn, lookForLeader } from './election/leader-election.js';
import { SessionEndedError } from './session/requests.js';
import type { Session } from './session/session.js';
import type { SessionSupervisor } from './session/session-supervisor.js';

/** The parts of the backend that elections need. */
interface Grounds {
  readonly sessions: SessionSupervisor;
  readonly places: NodePaths;
  /** Acquires, and begins again on the next session when one ends. */
  acquire<T>(
    request: CampaignRequest,
    attempt: Attempt<CampaignRequest, T>,
    directory: LockDirectory,
  ): Promise<T | null>;
}

/** Elections as znodes. A name that begins with a slash is the path of the candidates, as in Curator's LeaderLatch. */
export class ZooKeeperElections implements Elections {
  readonly #grounds: Grounds;

  constructor(grounds: Grounds) {
    this.#grounds = grounds;
  }

  async campaign(request: CampaignRequest): Promise<WonElection | null> {
    const directory = this.#grounds.places.directory('elections', request.key);
    const attempt = (session: Session, limited: CampaignRequest) => campaignIn(session, directory, limited);
    const won = await this.#grounds.acquire(request, attempt, directory);
    if (!won) return null;
    const { lease, proclaim } = won;
    const proclaimed = (value: string) => proclaim(value).catch((error: unknown) => Promise.reject(told(error, lease)));
    return { lease, proclaim: proclaimed };
  }

  async look(key: string, signal: AbortSignal, name = key): Promise<Sighting> {
    const { path } = this.#grounds.places.directory('elections', key);
    const look = (session: Session, limit: AbortSignal) => lookForLeader(session, path, limit);
    const { leader, changed } = await inSession(this.#grounds.sessions, { key: name, wait: false, signal }, look);
    return { leader, changed: (until) => changed(until).catch((error: unknown) => unlessEnded(error, name)) };
  }
}

/** The error that explains why no value was proclaimed. */
function told(error: unknown, lease: GrantedLease): unknown {
  if (lease.isHeld()) return explained(error, lease.key);
  return lease.signal.aborted ? lease.signal.reason : new LockLostError(lease.key, 'it was resigned');
}

/** Ignores the end of the session, which also ends its watch: the caller looks again on the next session. */
function unlessEnded(error: unknown, name: string): void {
  if (!(error instanceof SessionEndedError)) throw explained(error, name);
}
