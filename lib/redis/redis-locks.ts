import type { Contender } from '../contract/contender.js';
import { LockConfigurationError } from '../contract/errors.js';
import type { GrantedLease } from '../contract/granted-lease.js';
import { nameOf } from '../contract/lock-request.js';
import type { LockRequest, SemaphoreSize } from '../contract/lock-request.js';
import type { ResolvedRevokeOptions } from '../contract/revoke.options.js';
import type { PermitCounts } from '../contract/semaphore.options.js';
import { NEVER } from '../async/abort.js';
import { now } from '../async/clock.js';
import { limited, pause } from '../async/timer.js';
import { flag } from './client/script.js';
import { acquireOne, acquireSet } from './locks/acquire.js';
import type { Wanted } from './locks/contender.js';
import { ASK, FORCE, GET_PERMITS, LIST, SET_PERMITS } from './scripts/lock-scripts.js';
import { grantedAt, ownerOf, parseEntry } from './session/entry.js';
import { inSession } from './session/in-session.js';
import type { RedisHold } from './session/redis-hold.js';
import type { QueueKeys } from './session/redis-keys.js';
import type { RedisShards } from './session/redis-shards.js';
import type { RedisSessions } from './session/redis-sessions.js';
import { watchUntil } from './session/topics.js';

const EVERY = 2 ** 31;

/** Requests for locks and permits, made of scripts on wait queues. */
export class RedisLocks implements PermitCounts {
  readonly #shards: RedisShards;
  readonly #releaseTimeoutMs: number;

  constructor(shards: RedisShards, releaseTimeoutMs: number) {
    this.#shards = shards;
    this.#releaseTimeoutMs = releaseTimeoutMs;
  }

  acquire(request: LockRequest): Promise<GrantedLease | null> {
    const sessions = this.#shards.of(request.key);
    const wanted = this.#wantedBy(request, sessions);
    const held = inSession(sessions, request, (session, signal) => acquireOne(session, wanted, request, signal));
    return held.then(leaseOf);
  }

  async acquireAll(requests: readonly LockRequest[]): Promise<readonly GrantedLease[] | null> {
    const [first] = requests;
    if (!first) return [];
    const sessions = this.#shards.ofAll(requests.map(({ key }) => key));
    const wanted = requests.map((request) => this.#wantedBy(request, sessions));
    return inSession(sessions, first, (session, signal) =>
      acquireSet(
        session,
        wanted,
        requests.map((request) => ({ ...request, signal })),
      ),
    );
  }

  async list(
    queue: QueueKeys,
    key: string,
    { most, waiting, signal }: { most: number; waiting: boolean; signal?: AbortSignal },
  ): Promise<readonly Contender[]> {
    const call = { key, wait: false, ...(signal && { signal }) };
    return inSession(this.#shards.of(key), call, async (session, limit) => {
      const values = [most, waiting ? EVERY : 0];
      const answer = await session.run(LIST, queue, values, { signal: limit });
      const [, holders, others] = answer as unknown as [string, string[], string[]];
      const held = holders.flatMap((entry, place) =>
        place % 2 === 0 ? [described(entry, session.id, holders[place + 1])] : [],
      );
      return [...held, ...others.map((entry) => described(entry, session.id))];
    });
  }

  /** The wait queues of a key: the lock's, and that of its permits. */
  queuesOf(key: string): readonly QueueKeys[] {
    const { keys } = this.#shards.of(key);
    return [keys.queue('lock', key), keys.queue('permits', key)];
  }

  async revoke(key: string, options: ResolvedRevokeOptions): Promise<void> {
    await Promise.all(this.queuesOf(key).map((queue) => this.#revokeIn(queue, key, options)));
  }

  async read(key: string, of: SemaphoreSize): Promise<number> {
    const queue = this.#permitsOf(key, of);
    const [, recorded] = await inSession(this.#shards.of(key), { key, wait: false }, (session, signal) =>
      session.run(GET_PERMITS, queue, [], { signal }),
    );
    return recorded === null || recorded === undefined ? of.permits : Number(recorded);
  }

  async set(key: string, of: SemaphoreSize, permits: number): Promise<void> {
    const queue = this.#permitsOf(key, of);
    await inSession(this.#shards.of(key), { key, wait: false }, (session, signal) =>
      session.run(SET_PERMITS, queue, [permits], { signal }),
    );
  }

  async #revokeIn(queue: QueueKeys, key: string, { graceMs, signal }: ResolvedRevokeOptions): Promise<void> {
    const sessions = this.#shards.of(key);
    const { lookEveryMs, topics } = sessions;
    const end = now() + graceMs;
    // The last token that counts names the holders: entries change when a writer becomes a reader, or a hold is adopted.
    let last = '';
    // Each holder that releases wakes this. Those that were asked are asked again only in case a message was
    // lost: at the next look that no release has caused.
    let askAt = -Infinity;
    const ask = async (wait: boolean, given = signal) => {
      const call = { key, wait, isContinued: wait, ...(given && { signal: given }) };
      const asksAll = now() >= askAt;
      const values = [Math.round(3 * lookEveryMs), last, flag(asksAll)];
      const [, asked, holders, settlingMs] = await inSession(sessions, call, (session, limit) =>
        session.run(ASK, queue, values, { signal: limit }),
      );
      last = String(asked);
      // While the server settles, others may be adopted.
      if (settlingMs) askAt = -Infinity;
      else if (asksAll) askAt = now() + lookEveryMs / 2;
      if (settlingMs) return { againInMs: Math.min(Number(settlingMs), lookEveryMs) };
      return holders === 0 ? { found: true } : { againInMs: lookEveryMs };
    };
    if ('found' in (await ask(false))) return;
    const isGiven = await limited(Math.max(0, end - now()), signal, (limit) =>
      watchUntil(topics, queue[4], limit, () => ask(true, limit)),
    );
    if (isGiven) return;
    const call = { key, wait: false, ...(signal && { signal }) };
    const force = () =>
      inSession(sessions, call, (session, limit) => session.run(FORCE, queue, [last], { signal: limit }));
    for (;;) {
      const [word, ms] = await force();
      if (word === 'DONE') return;
      // Outside of the call: a server may settle for longer than an answer may take.
      await pause(Number(ms), signal ?? NEVER);
    }
  }

  #wantedBy(request: LockRequest, { keys, lookEveryMs, report }: RedisSessions): Wanted {
    const { key, mode, permits, keeps, label } = request;
    if (mode === 'permit' && !permits) throw new LockConfigurationError(`mode 'permit' needs permits`, { key });
    const queue = permits ? this.#permitsOf(key, permits.of) : keys.queue('lock', key);
    return {
      name: nameOf(request),
      queue,
      entry: { mode, permits: permits?.count ?? 1, most: permits?.of.permits ?? 1, keeps, label },
      releaseTimeoutMs: this.#releaseTimeoutMs,
      lookEveryMs,
      report,
    };
  }

  /** @throws LockConfigurationError when the number is recorded in another shard */
  #permitsOf(key: string, { sharedCount }: SemaphoreSize): QueueKeys {
    const { keys } = this.#shards.ofAll(sharedCount === undefined ? [key] : [key, sharedCount]);
    return keys.queue('permits', key, sharedCount);
  }
}

function leaseOf(hold: RedisHold | null): GrantedLease | null {
  return hold && hold.lease;
}

/** Returns the contender of an entry. @param token the token of a holder; `undefined` for an entry that waits */
export function described(text: string, ownSession: string, token?: string): Contender {
  const { mode, permits, session, since, label } = parseEntry(text);
  return {
    state: token === undefined ? 'waiting' : 'held',
    mode,
    permits: mode === 'permit' ? permits : undefined,
    owner: ownerOf(session, label),
    since: token === undefined ? new Date(since) : grantedAt(token),
    isOwn: session === ownSession,
    isLocal: false,
    isKept: false,
  };
}
