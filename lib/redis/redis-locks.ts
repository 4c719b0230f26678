import type { Contender } from '../contract/contender.js';
import { LockConfigurationError } from '../contract/errors.js';
import type { GrantedLease } from '../contract/granted-lease.js';
import { nameOf } from '../contract/lock-request.js';
import type { LockRequest, SemaphoreSize } from '../contract/lock-request.js';
import type { ResolvedRevokeOptions } from '../contract/revoke.options.js';
import type { PermitCounts } from '../contract/semaphore.options.js';
import { now } from '../async/clock.js';
import { limited } from '../async/timer.js';
import { acquireOne, acquireSet } from './locks/acquire.js';
import type { Wanted } from './locks/contender.js';
import { ASK, FORCE, GET_PERMITS, LIST, SET_PERMITS } from './scripts/lock-scripts.js';
import { grantedAt, ownerOf, parseEntry } from './session/entry.js';
import { inSession } from './session/in-session.js';
import type { QueueKeys } from './session/redis-keys.js';
import type { RedisSessions } from './session/redis-sessions.js';
import { watchUntil } from './session/topics.js';

const EVERY = 2 ** 31;

/** Requests for locks and permits, made of scripts on wait queues. */
export class RedisLocks implements PermitCounts {
  readonly #sessions: RedisSessions;
  readonly #releaseTimeoutMs: number;

  constructor(sessions: RedisSessions, releaseTimeoutMs: number) {
    this.#sessions = sessions;
    this.#releaseTimeoutMs = releaseTimeoutMs;
  }

  async acquire(request: LockRequest): Promise<GrantedLease | null> {
    const wanted = this.#wantedBy(request);
    const hold = await inSession(this.#sessions, request, (session, signal) =>
      acquireOne(session, wanted, { ...request, signal }),
    );
    return hold?.lease ?? null;
  }

  async acquireAll(requests: readonly LockRequest[]): Promise<readonly GrantedLease[] | null> {
    const wanted = requests.map((request) => this.#wantedBy(request));
    const [first] = requests;
    if (!first) return [];
    return inSession(this.#sessions, first, (session, signal) =>
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
    return inSession(this.#sessions, { key, wait: false, ...(signal && { signal }) }, async (session, limit) => {
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
    const { keys } = this.#sessions;
    return [keys.queue('lock', key), keys.queue('permits', key)];
  }

  async revoke(key: string, options: ResolvedRevokeOptions): Promise<void> {
    await Promise.all(this.queuesOf(key).map((queue) => this.#revokeIn(queue, key, options)));
  }

  async read(key: string, of: SemaphoreSize): Promise<number> {
    const queue = this.#permitsOf(key, of);
    const [, recorded] = await inSession(this.#sessions, { key, wait: false }, (session, signal) =>
      session.run(GET_PERMITS, queue, [], { signal }),
    );
    return recorded === null || recorded === undefined ? of.permits : Number(recorded);
  }

  async set(key: string, of: SemaphoreSize, permits: number): Promise<void> {
    const queue = this.#permitsOf(key, of);
    await inSession(this.#sessions, { key, wait: false }, (session, signal) =>
      session.run(SET_PERMITS, queue, [permits], { signal }),
    );
  }

  async #revokeIn(queue: QueueKeys, key: string, { graceMs, signal }: ResolvedRevokeOptions): Promise<void> {
    const { lookEveryMs, topics } = this.#sessions;
    const end = now() + graceMs;
    const ask = async (asked: readonly string[], wait: boolean, given = signal): Promise<readonly string[]> => {
      const call = { key, wait, ...(given && { signal: given }) };
      const [, ...holders] = await inSession(this.#sessions, call, (session, limit) =>
        session.run(ASK, queue, [Math.round(3 * lookEveryMs), ...asked], { signal: limit }),
      );
      return holders as string[];
    };
    const asked = await ask([], false);
    if (asked.length === 0) return;
    const look = (limit: AbortSignal) => async () => {
      const left = await ask(asked, true, limit);
      return left.length === 0 ? { found: true } : { againInMs: lookEveryMs };
    };
    const isGiven = await limited(Math.max(0, end - now()), signal, (limit) =>
      watchUntil(topics, queue[4], limit, look(limit)),
    );
    if (isGiven) return;
    await inSession(this.#sessions, { key, wait: false, ...(signal && { signal }) }, (session, limit) =>
      session.run(FORCE, queue, asked, { signal: limit }),
    );
  }

  #wantedBy(request: LockRequest): Wanted {
    const { key, mode, permits, label } = request;
    if (mode === 'permit' && !permits) throw new LockConfigurationError(`mode 'permit' needs permits`, { key });
    const queue = permits ? this.#permitsOf(key, permits.of) : this.#sessions.keys.queue('lock', key);
    return {
      name: nameOf(request),
      queue,
      entry: { mode, permits: permits?.count ?? 1, most: permits?.of.permits ?? 1, label },
      releaseTimeoutMs: this.#releaseTimeoutMs,
      lookEveryMs: this.#sessions.lookEveryMs,
    };
  }

  #permitsOf(key: string, { sharedCount }: SemaphoreSize): QueueKeys {
    return this.#sessions.keys.queue('permits', key, sharedCount);
  }
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
