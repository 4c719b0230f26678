import { now } from '../async/clock.js';
import { limited } from '../async/timer.js';
import type { Contender } from '../contract/contender.js';
import { LockConfigurationError } from '../contract/errors.js';
import type { GrantedLease } from '../contract/granted-lease.js';
import { nameOf } from '../contract/lock-request.js';
import type { LockRequest, SemaphoreSize } from '../contract/lock-request.js';
import type { ResolvedRevokeOptions } from '../contract/revoke.options.js';
import type { PermitCounts } from '../contract/semaphore.options.js';
import { acquireOne, acquireSet } from './locks/acquire.js';
import { isForeign, isOf, turnsOf } from './locks/entry.js';
import type { Entry } from './locks/entry.js';
import { readsOf, stateOf } from './locks/queue-view.js';
import type { QueueState } from './locks/queue-view.js';
import type { QueueViews } from './locks/queue-views.js';
import { rewrite } from './locks/rewrite.js';
import type { Wanted } from './locks/wanted.js';
import { isAbsolute, rangeBelow } from './session/etcd-keys.js';
import type { QueueKeys } from './session/etcd-keys.js';
import type { EtcdSession } from './session/etcd-session.js';
import type { EtcdSessions } from './session/etcd-sessions.js';
import { inSession } from './session/in-session.js';
import type { Doubt } from './session/outbox.js';
import { watchUntil } from './session/watches.js';

/** Requests for locks and permits, made of transactions on wait queues. */
export class EtcdLocks implements PermitCounts {
  readonly #sessions: EtcdSessions;
  readonly #views: QueueViews;
  readonly #releaseTimeoutMs: number;

  constructor(sessions: EtcdSessions, views: QueueViews, releaseTimeoutMs: number) {
    this.#sessions = sessions;
    this.#views = views;
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

  /** Lists the contenders of a wait queue, holders first. */
  list(queue: QueueKeys, key: string, signal?: AbortSignal): Promise<readonly Contender[]> {
    return inSession(this.#sessions, { key, wait: false, ...(signal && { signal }) }, async (session, limit) => {
      const { entries, number } = await stateIn(session, queue, limit);
      const turns = turnsOf(entries, number);
      return entries.map((entry, place) => described(entry, session.id, place < turns));
    });
  }

  /** The wait queues of a key: the lock's, and that of its permits, if it can have some. */
  queuesOf(key: string): readonly QueueKeys[] {
    const { keys } = this.#sessions;
    return isAbsolute(key) ? [keys.queue('lock', key)] : [keys.queue('lock', key), keys.queue('permits', key)];
  }

  async revoke(key: string, options: ResolvedRevokeOptions): Promise<void> {
    await Promise.all(this.queuesOf(key).map((queue) => this.#revokeIn(queue, key, options)));
  }

  async read(key: string, of: SemaphoreSize): Promise<number> {
    const number = this.#numberOf(key, of);
    const { results } = await inSession(this.#sessions, { key, wait: false }, (session, signal) =>
      session.read([{ kind: 'read', key: number }], signal),
    );
    const recorded = results[0]?.found[0];
    return recorded ? Number(recorded.value.toString()) : of.permits;
  }

  async set(key: string, of: SemaphoreSize, permits: number): Promise<void> {
    const number = this.#numberOf(key, of);
    // From one session to the next: a request that was lost with its answer must not replace what others set since.
    const doubt: Doubt = { isSo: false };
    let found: number | undefined;
    await inSession(this.#sessions, { key, wait: false }, async (session, signal) => {
      for (;;) {
        found ??= await modifiedIn(session, number, signal);
        const compare = [{ key: number, property: 'modified', is: 'equal', than: found } as const];
        const success = [{ kind: 'put', key: number, value: String(permits) } as const];
        const change = { about: [number], compare, success, failure: [] };
        const { isMet } = await session.change(change, { signal, doubt });
        if (isMet || doubt.isSo) return;
        // Another number was set since the read, by a call that overlaps with this one.
        found = undefined;
      }
    });
  }

  async #revokeIn(queue: QueueKeys, key: string, { graceMs, signal }: ResolvedRevokeOptions): Promise<void> {
    const end = now() + graceMs;
    const call = (wait: boolean, given = signal) => ({ key, wait, isContinued: wait, ...(given && { signal: given }) });
    const holders = async (session: EtcdSession, limit: AbortSignal): Promise<readonly Entry[]> => {
      const { entries, number } = await stateIn(session, queue, limit);
      return entries.slice(0, turnsOf(entries, number));
    };
    const asked = await inSession(this.#sessions, call(false), async (session, limit) => {
      const found = await holders(session, limit);
      // Another kind of client does not look for such a request, and its value may be read by others.
      const told = found.filter((entry) => !isForeign(entry));
      await Promise.all(told.map((entry) => rewrite(session, entry, { isRevoked: true }, limit)));
      return found;
    });
    if (asked.length === 0) return;
    const { watches, lookEveryMs } = this.#sessions;
    const look = (limit: AbortSignal) => async () => {
      const left = await inSession(this.#sessions, call(true, limit), holders);
      const isGiven = !left.some((entry) => asked.some(({ created }) => created === entry.created));
      return isGiven ? { found: true } : { againInMs: lookEveryMs };
    };
    const isGiven = await limited(Math.max(0, end - now()), signal, (limit) =>
      watchUntil(watches, rangeBelow(queue.entries), limit, look(limit)),
    );
    if (isGiven) return;
    await inSession(this.#sessions, call(false), (session, limit) =>
      Promise.all(asked.map((entry) => remove(session, entry, limit))),
    );
  }

  #wantedBy(request: LockRequest): Wanted {
    const { key, mode, permits, keeps, label } = request;
    if (mode === 'permit' && !permits) throw new LockConfigurationError(`mode 'permit' needs permits`, { key });
    const { keys, report } = this.#sessions;
    const counted = permits?.of.sharedCount;
    return {
      name: nameOf(request),
      queue: permits ? keys.queue('permits', key, counted) : keys.queue('lock', key),
      entry: { mode, permits: permits?.count ?? 1, most: permits?.of.permits ?? 1, counted, keeps, label },
      releaseTimeoutMs: this.#releaseTimeoutMs,
      views: this.#views,
      report,
    };
  }

  #numberOf(key: string, { sharedCount = key }: SemaphoreSize): string {
    return this.#sessions.keys.of('number', sharedCount);
  }
}

/** Returns a wait queue, with the number of permits that its entries count by. */
async function stateIn(session: EtcdSession, queue: QueueKeys, signal: AbortSignal): Promise<QueueState> {
  const state = await readState(session, queue, signal);
  const counted = countedBy(session, queue, state.entries);
  // The number is read together with the entries.
  return counted.number === queue.number ? state : readState(session, counted, signal);
}

async function readState(session: EtcdSession, queue: QueueKeys, signal: AbortSignal): Promise<QueueState> {
  const { results, revision } = await session.read(readsOf(queue), signal);
  return stateOf(queue, results, revision);
}

/** Returns the queue with the number that its entries name. */
export function countedBy({ keys }: EtcdSession, queue: QueueKeys, entries: readonly Entry[]): QueueKeys {
  if (queue.number === undefined) return queue;
  const counted = entries.map((entry) => entry.counted).find(isNumberName);
  return counted === undefined ? queue : { ...queue, number: keys.of('number', counted) };
}

/** Whether an entry names the key of its number. That of another client may have anything there. */
function isNumberName(counted: unknown): counted is string {
  return typeof counted === 'string' && !isAbsolute(counted);
}

/** Returns the revision of the last write of a key; 0: it does not exist. */
async function modifiedIn(session: EtcdSession, key: string, signal: AbortSignal): Promise<number> {
  const { results } = await session.read([{ kind: 'read', key, only: 'keys' }], signal);
  return results[0]?.found[0]?.modified ?? 0;
}

/** Removes an entry by force, if it is still the one that was seen. */
async function remove(session: EtcdSession, { key, created }: Entry, signal: AbortSignal): Promise<void> {
  const compare = [{ key, property: 'created', is: 'equal', than: created } as const];
  const success = [{ kind: 'delete', key } as const];
  await session.change({ about: [key], compare, success, failure: [] }, { signal });
}

/** Returns the contender of an entry. @param ownSession id of the session of this process */
export function described(entry: Entry, ownSession: string, isHeld: boolean): Contender {
  const { mode, permits, since, host, pid, label } = entry;
  return {
    state: isHeld ? 'held' : 'waiting',
    mode,
    permits: mode === 'permit' ? permits : undefined,
    owner: { host, pid, label },
    since: new Date(since),
    isOwn: isOf(entry, ownSession),
    isLocal: false,
    isKept: false,
  };
}
