import type { CampaignRequest, Elections, Leader, Sighting, WonElection } from '../contract/elections.js';
import { LockLostError } from '../contract/errors.js';
import { fencingTokenOf } from '../contract/granted-lease.js';
import { nameOf } from '../contract/lock-request.js';
import { SessionEndedError } from '../sessions/backend-sessions.js';
import { explained } from './client/etcd-error.js';
import { acquireOne } from './locks/acquire.js';
import { isOf, nameOf as nameOfEntry } from './locks/entry.js';
import type { Entry } from './locks/entry.js';
import type { EtcdHold } from './locks/etcd-hold.js';
import { entriesOf } from './locks/queue-view.js';
import type { QueueViews } from './locks/queue-views.js';
import { rangeBelow } from './session/etcd-keys.js';
import type { QueueKeys } from './session/etcd-keys.js';
import type { EtcdSessions } from './session/etcd-sessions.js';
import { inSession } from './session/in-session.js';
import { watchUntil } from './session/watches.js';

/** The state of an election at one moment. */
interface Found {
  readonly leader: Leader | null;
  /** Differs for every state of the election. */
  readonly mark: string;
}

/** Elections: a wait queue of candidates. The value that the first one proclaims is a part of its entry. */
export class EtcdElections implements Elections {
  readonly #sessions: EtcdSessions;
  readonly #views: QueueViews;
  readonly #releaseTimeoutMs: number;

  constructor(sessions: EtcdSessions, views: QueueViews, releaseTimeoutMs: number) {
    this.#sessions = sessions;
    this.#views = views;
    this.#releaseTimeoutMs = releaseTimeoutMs;
  }

  async campaign(request: CampaignRequest): Promise<WonElection | null> {
    const { key, label, value } = request;
    const queue = this.#queueOf(key);
    const wanted = {
      name: nameOf(request),
      queue,
      entry: { mode: 'exclusive', permits: 1, most: 1, label, proclaimed: value, isBare: queue.hasBareValues },
      releaseTimeoutMs: this.#releaseTimeoutMs,
      views: this.#views,
    } as const;
    const hold = await inSession(this.#sessions, request, (session, signal) =>
      acquireOne(session, wanted, { ...request, signal }),
    );
    if (!hold) return null;
    return { lease: hold.lease, proclaim: (next) => proclaim(hold, next) };
  }

  async look(key: string, signal: AbortSignal, name = key): Promise<Sighting> {
    const { leader, mark } = await this.#find(key, signal, name);
    const { watches, lookEveryMs } = this.#sessions;
    const changed = (until: AbortSignal) =>
      watchUntil(watches, rangeBelow(this.#queueOf(key).entries), until, async () => {
        const next = await this.#find(key, until, name);
        return next.mark === mark ? { againInMs: lookEveryMs } : { found: undefined };
      });
    return { leader, changed };
  }

  #find(key: string, signal: AbortSignal, name: string): Promise<Found> {
    return inSession(this.#sessions, { key: name, wait: false, signal }, async (session, limit) => {
      const queue = this.#queueOf(key);
      // Below a prefix of Go's there may be other keys.
      const most = queue.hasBareValues ? 0 : 1;
      const { results } = await session.read(
        [{ kind: 'read', ...rangeBelow(queue.entries), inOrderOf: 'creation', limit: most }],
        limit,
      );
      const [first] = entriesOf(queue, results[0]?.found ?? []);
      if (!first) return { leader: null, mark: '' };
      return { leader: leaderOf(first, session.id), mark: `${first.key} ${first.modified}` };
    });
  }

  #queueOf(key: string): QueueKeys {
    return this.#sessions.keys.queue('election', key);
  }
}

function leaderOf(entry: Entry, ownSession: string): Leader {
  const { host, pid, label, proclaimed, since, created } = entry;
  return {
    // Only the entry of another kind of client is known.
    id: label ?? (host === undefined ? nameOfEntry(entry) : `${host}:${pid}`),
    owner: { host, pid, label },
    value: proclaimed,
    since: new Date(since),
    fencingToken: fencingTokenOf(BigInt(created)),
    isOwn: isOf(entry, ownSession),
  };
}

/** @throws LockLostError, LockUnavailableError, LockConfigurationError */
async function proclaim(hold: EtcdHold, value: string): Promise<void> {
  const { lease } = hold;
  const lost = () => (lease.signal.aborted ? lease.signal.reason : new LockLostError(lease.key, 'it was resigned'));
  if (!lease.isHeld()) throw lost();
  const isDone = await hold.proclaim(value).catch((error: unknown) => {
    throw error instanceof SessionEndedError ? lost() : explained(error, lease.key);
  });
  if (!isDone) throw lost();
}
