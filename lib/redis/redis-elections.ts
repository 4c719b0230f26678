import { LockLostError } from '../contract/errors.js';
import type { CampaignRequest, Elections, Leader, Sighting, WonElection } from '../contract/elections.js';
import { fencingTokenOf } from '../contract/granted-lease.js';
import { nameOf } from '../contract/lock-request.js';
import { SessionEndedError } from '../sessions/backend-sessions.js';
import { explained } from './client/redis-error.js';
import { acquireOne } from './locks/acquire.js';
import { FIND_LEADER, PROCLAIM } from './scripts/lock-scripts.js';
import { grantedAt, ownerOf, parseEntry } from './session/entry.js';
import { inSession } from './session/in-session.js';
import type { RedisHold } from './session/redis-hold.js';
import type { QueueKeys } from './session/redis-keys.js';
import type { RedisShards } from './session/redis-shards.js';
import { watchUntil } from './session/topics.js';

/** The state of an election, as the server knows it. */
interface Found {
  readonly leader: Leader | null;
  /** Differs for every state of the election. */
  readonly mark: string;
  /** The time until the leader's session ends, unless it is renewed. */
  readonly leftMs: number;
}

/** Elections: a wait queue of candidates, and the value of the one that holds. */
export class RedisElections implements Elections {
  readonly #shards: RedisShards;
  readonly #releaseTimeoutMs: number;

  constructor(shards: RedisShards, releaseTimeoutMs: number) {
    this.#shards = shards;
    this.#releaseTimeoutMs = releaseTimeoutMs;
  }

  async campaign(request: CampaignRequest): Promise<WonElection | null> {
    const { key, label, value } = request;
    const sessions = this.#shards.of(key);
    const wanted = {
      name: nameOf(request),
      queue: this.#queueOf(key),
      entry: { mode: 'exclusive', isCandidate: true, permits: 1, most: 1, label },
      releaseTimeoutMs: this.#releaseTimeoutMs,
      lookEveryMs: sessions.lookEveryMs,
    } as const;
    const hold = await inSession(sessions, request, (session, signal) => acquireOne(session, wanted, request, signal));
    if (!hold) return null;
    if (value !== undefined) await proclaim(hold, value).catch((error: unknown) => giveUp(hold, error));
    return { lease: hold.lease, proclaim: (next) => proclaim(hold, next) };
  }

  async look(key: string, signal: AbortSignal, name = key): Promise<Sighting> {
    const { leader, mark } = await this.#find(key, signal, name);
    const { topics, lookEveryMs } = this.#shards.of(key);
    const changed = (until: AbortSignal) =>
      watchUntil(topics, this.#queueOf(key)[4], until, async () => {
        const next = await this.#find(key, until, name);
        return next.mark === mark ? { againInMs: Math.min(next.leftMs, lookEveryMs) } : { found: undefined };
      });
    return { leader, changed };
  }

  #find(key: string, signal: AbortSignal, name: string): Promise<Found> {
    const sessions = this.#shards.of(key);
    return inSession(sessions, { key: name, wait: false, signal }, async (session, limit) => {
      const flagMs = Math.round(3 * sessions.lookEveryMs);
      const answer = await session.run(FIND_LEADER, this.#queueOf(key), [flagMs], { signal: limit });
      const [, text, token, leftMs, value] = answer as unknown as [string, string?, string?, number?, string?];
      if (text === undefined || token === undefined) return { leader: null, mark: '', leftMs: Infinity };
      const leader = leaderOf(text, token, value ?? undefined, session.id);
      return { leader, mark: `${text} ${token} ${value}`, leftMs: (leftMs ?? 0) + 1 };
    });
  }

  #queueOf(key: string): QueueKeys {
    return this.#shards.of(key).keys.queue('election', key);
  }
}

function leaderOf(text: string, token: string, value: string | undefined, ownSession: string): Leader {
  const { session, label } = parseEntry(text);
  const owner = ownerOf(session, label);
  return {
    id: label ?? `${owner.host}:${owner.pid}`,
    owner,
    value,
    since: grantedAt(token),
    fencingToken: fencingTokenOf(BigInt(token)),
    isOwn: session === ownSession,
  };
}

/** @throws LockLostError, LockUnavailableError, LockConfigurationError */
async function proclaim(hold: RedisHold, value: string): Promise<void> {
  const { lease } = hold;
  const lost = () => (lease.signal.aborted ? lease.signal.reason : new LockLostError(lease.key, 'it was resigned'));
  for (;;) {
    if (!lease.isHeld()) throw lost();
    try {
      const [word] = await hold.publish(PROCLAIM, value);
      if (word === 'REFUSED') throw lost();
      return;
    } catch (error) {
      // The next session adopts the hold.
      if (!(error instanceof SessionEndedError)) throw explained(error, lease.key);
      await hold.untilMoved();
    }
  }
}

async function giveUp(hold: RedisHold, error: unknown): Promise<never> {
  await hold.lease.release();
  throw error;
}
