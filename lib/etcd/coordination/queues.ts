import { randomUUID } from 'node:crypto';
import type { QueuePutRequest, Queues, QueueTakeRequest, TakenItem } from '../../contract/coordination-backend.js';
import { now } from '../../async/clock.js';
import { BoundedMap } from '../../async/collections.js';
import { settledWithin } from '../../async/timer.js';
import { LockConfigurationError, LockLostError } from '../../contract/errors.js';
import { fencingTokenOf, GrantedLease } from '../../contract/granted-lease.js';
import { checkKey } from '../../contract/key.js';
import { nameOf } from '../../contract/lock-request.js';
import { inDoubt, SessionEndedError } from '../../sessions/backend-sessions.js';
import { explained } from '../client/etcd-error.js';
import { acquireOne } from '../locks/acquire.js';
import type { QueueViews } from '../locks/queue-views.js';
import { inOrder } from '../locks/entry.js';
import { rangeBelow } from '../session/etcd-keys.js';
import type { QueueKind } from '../session/etcd-keys.js';
import type { ChangeCall, EtcdSession } from '../session/etcd-session.js';
import type { EtcdSessions } from '../session/etcd-sessions.js';
import { inSession } from '../session/in-session.js';
import { MOST_OPERATIONS } from '../session/outbox.js';
import { watchUntil } from '../session/watches.js';
import type { Look } from '../session/watches.js';
import type { Compare } from '../wire/requests.js';
import type { KeyValue } from '../wire/responses.js';
import { ItemNames, putIn } from './put-items.js';
import type { ItemKeys } from './put-items.js';

/** One operation is left for the transaction around a put. */
const MOST_ITEMS = MOST_OPERATIONS - 1;
/** A taken item costs two conditions. */
const MOST_TAKEN = 50;
const PLACE_DIGITS = 4;
/** The id of an item, which its value begins with: that of the put, and the place in it. */
const ID_BYTES = randomUUID().length + 1 + PLACE_DIGITS;
/** The queues whose names of items are remembered. */
const MOST_QUEUES = 1_000;

/**
 * Queues of items. An item is a key without a lease; its taker is a key with the lease of its session. Callers that wait
 * to put or to take stand in a wait queue each, and only the first of them watches the items.
 */
export class EtcdQueues implements Queues {
  readonly #sessions: EtcdSessions;
  readonly #views: QueueViews;
  readonly #releaseTimeoutMs: number;
  #session: EtcdSession | undefined;
  /** The names of items that the session has put. */
  #names = new BoundedMap<ItemNames>(MOST_QUEUES);

  constructor(sessions: EtcdSessions, views: QueueViews, releaseTimeoutMs: number) {
    this.#sessions = sessions;
    this.#views = views;
    this.#releaseTimeoutMs = releaseTimeoutMs;
  }

  async put(request: QueuePutRequest): Promise<boolean> {
    const { key, payloads, maxItems = Infinity } = request;
    const keys = this.#itemsOf(key);
    if (payloads.length > MOST_ITEMS) {
      const text = `etcd() puts at most ${MOST_ITEMS} items at once, these are ${payloads.length}`;
      throw new LockConfigurationError(text, { key: nameOf(request) });
    }
    const id = randomUUID();
    const idOf = (place: number) => `${id}:${String(place).padStart(PLACE_DIGITS, '0')}`;
    const values = payloads.map((payload, place) => Buffer.concat([Buffer.from(idOf(place)), payload]));
    const doubt = { isSo: false };
    const putting = { keys, values, maxItems, doubt, lateMs: this.#releaseTimeoutMs };
    const putInTurn = this.#inTurn('put', request, async (session, signal) => {
      const isDone = await putIn(session, putting, this.#namesOf(session, keys), signal);
      return isDone ? { found: true } : { againInMs: this.#sessions.lookEveryMs };
    });
    const isPut = await putInTurn.catch((error: unknown) => {
      const name = nameOf(request);
      throw doubt.isSo ? inDoubt(error, `whether it was put into "${name}"`, name) : error;
    });
    return isPut ?? false;
  }

  async take(request: QueueTakeRequest): Promise<readonly TakenItem[]> {
    const { key, atMost } = request;
    const keys = this.#itemsOf(key);
    const taken = await this.#inTurn('take', request, async (session, signal) => {
      const items = await takeIn(session, keys, Math.min(atMost, MOST_TAKEN), signal);
      if (items.length === 0) return { againInMs: this.#sessions.lookEveryMs };
      return { found: items.map((item) => this.#taken(session, keys, nameOf(request), item)) };
    });
    return taken ?? [];
  }

  async size(key: string, signal: AbortSignal, name = key): Promise<number> {
    const range = rangeBelow(this.#itemsOf(key).items);
    const { results } = await inSession(this.#sessions, { key: name, wait: false, signal }, (session, limit) =>
      session.read([{ kind: 'read', ...range, only: 'count' }], limit),
    );
    return results[0]?.count ?? 0;
  }

  /** Attempts once, or with `wait` until the attempt succeeds, when those that came before have succeeded. */
  async #inTurn<T>(
    kind: QueueKind,
    request: QueuePutRequest | QueueTakeRequest,
    attempt: (session: EtcdSession, signal: AbortSignal) => Promise<Look<T>>,
  ): Promise<T | undefined> {
    const { key, wait, signal } = request;
    const ask = (limit: AbortSignal, isLong: boolean) =>
      inSession(this.#sessions, { key: nameOf(request), wait: isLong, isContinued: isLong, signal: limit }, attempt);
    if (!wait) {
      const answer = await ask(signal, false);
      return 'found' in answer ? answer.found : undefined;
    }
    const turn = await this.#turn(kind, request);
    try {
      const range = rangeBelow(this.#itemsOf(key).all);
      return await watchUntil(this.#sessions.watches, range, signal, () => ask(signal, true));
    } finally {
      // A caller that has given up does not wait for the answer to that, too.
      const released = turn.release();
      if (!signal.aborted) await released;
    }
  }

  async #turn(kind: QueueKind, request: QueuePutRequest | QueueTakeRequest): Promise<GrantedLease> {
    const { key, signal } = request;
    const wanted = {
      name: nameOf(request),
      queue: this.#sessions.keys.queue(kind, key),
      entry: { mode: 'exclusive', permits: 1, most: 1, label: undefined },
      releaseTimeoutMs: this.#releaseTimeoutMs,
      views: this.#views,
    } as const;
    const waiting = { key, mode: 'exclusive', line: 'fifo', wait: true, signal } as const;
    const hold = await inSession(this.#sessions, waiting, (session, limit) =>
      acquireOne(session, wanted, { ...waiting, signal: limit }),
    );
    // A request that waits is granted, or throws.
    return (hold as NonNullable<typeof hold>).lease;
  }

  #taken(session: EtcdSession, keys: ItemKeys, name: string, { item, created }: Taken): TakenItem {
    const taker = takerOf(keys, item);
    const lost = () => new LockLostError(name, 'the item may have been delivered to another taker');
    let isAcknowledged = false;
    const lease = new GrantedLease({
      key: name,
      mode: 'exclusive',
      fencingToken: fencingTokenOf(BigInt(created)),
      isCurrent: () => now() < session.deadline,
      giveBack: async () => {
        carried.leave();
        if (isAcknowledged) return;
        const back = session.persistently(() => settle(session, { item, taker, created }, 'back'));
        if (session.isLinked) await settledWithin(back, this.#releaseTimeoutMs);
      },
    });
    const carried = session.leases.add(lease);
    const ack = async () => {
      if (!lease.isHeld()) throw lost();
      const isDone = await settle(session, { item, taker, created }, 'ack').catch((error: unknown) => {
        throw error instanceof SessionEndedError ? lost() : explained(error, name);
      });
      isAcknowledged = isDone;
      await lease.release();
      if (!isDone) throw lost();
    };
    const [id, payload] = [item.value.subarray(0, ID_BYTES).toString(), Buffer.from(item.value.subarray(ID_BYTES))];
    return { id, payload, lease, ack };
  }

  #namesOf(session: EtcdSession, { items }: ItemKeys): ItemNames {
    if (this.#session !== session) this.#names = new BoundedMap(MOST_QUEUES);
    this.#session = session;
    const names = this.#names.get(items) ?? new ItemNames(session);
    this.#names.set(items, names);
    return names;
  }

  #itemsOf(key: string): ItemKeys {
    checkKey(key);
    const all = this.#sessions.keys.below('items', key);
    return { all, items: `${all}item/`, takers: `${all}taker/` };
  }
}

/** An item, and the revision at which it was taken. */
interface Taken {
  readonly item: KeyValue;
  readonly created: number;
}

/** Takes the first items that have no taker. */
async function takeIn(
  session: EtcdSession,
  keys: ItemKeys,
  atMost: number,
  signal: AbortSignal,
): Promise<readonly Taken[]> {
  for (;;) {
    const items = await freeItems(session, keys, atMost, signal);
    if (items.length === 0) return [];
    const takers = items.map((item) => takerOf(keys, item));
    // No other call has it.
    const token = session.newName();
    const call: ChangeCall = { signal };
    const taking = session.change(
      {
        about: [keys.takers],
        compare: items.flatMap(({ key, modified }, place): Compare[] => [
          { key, property: 'modified', is: 'equal', than: modified },
          { key: takers[place] ?? '', property: 'created', is: 'equal', than: 0 },
        ]),
        success: takers.map((key) => ({ kind: 'put', key, value: token, lease: session.lease })),
        failure: [{ kind: 'read', key: takers[0] ?? '' }],
      },
      call,
    );
    const answer = await taking.catch((error: unknown) => {
      const back = () => putBack(session, takers, token);
      if (!session.isOver) void call.sent?.then(back, back);
      throw error;
    });
    if (answer.isMet) return items.map((item) => ({ item, created: answer.revision }));
    const [read] = answer.results;
    const [own] = read?.kind === 'read' ? read.found : [];
    // A request whose answer was lost has taken them all.
    if (own?.value.toString() === token) return items.map((item) => ({ item, created: own.created }));
  }
}

/** Puts items back that were taken for a caller that has given up. Another taker may have come first. Never rejects. */
async function putBack(session: EtcdSession, takers: readonly string[], token: string): Promise<void> {
  await session.persistently(async () => {
    const { results } = await session.read(takers.map((key) => ({ kind: 'read', key }) as const));
    const own = results.flatMap(({ found }) => found).filter(({ value }) => value.toString() === token);
    const compare = own.map(({ key, created }) => ({ key, property: 'created', is: 'equal', than: created }) as const);
    const success = own.map(({ key }) => ({ kind: 'delete', key }) as const);
    if (own.length > 0) await session.change({ about: takers, compare, success, failure: [] });
  });
}

/** Returns the first items without a taker, in the order in which they were put. */
async function freeItems(
  session: EtcdSession,
  keys: ItemKeys,
  atMost: number,
  signal: AbortSignal,
): Promise<readonly KeyValue[]> {
  for (let limit = atMost + MOST_TAKEN; ; limit *= 2) {
    const { results } = await session.read(
      [
        { kind: 'read', ...rangeBelow(keys.takers), only: 'keys' },
        { kind: 'read', ...rangeBelow(keys.items), inOrderOf: 'creation', limit },
      ],
      signal,
    );
    const [takers, items] = results;
    const taken = new Set(takers?.found.map(({ key }) => key.slice(keys.takers.length)));
    const found = inOrder([...(items?.found ?? [])]);
    const last = found.at(-1)?.created;
    // Servers do not order the items of one put: of the last one, any may be missing.
    const whole = items?.hasMore ? found.filter(({ created }) => created !== last) : found;
    const free = whole.filter(({ key }) => !taken.has(key.slice(keys.items.length)));
    if (free.length >= atMost || !items?.hasMore) return free.slice(0, atMost);
  }
}

function takerOf({ items, takers }: ItemKeys, { key }: KeyValue): string {
  return takers + key.slice(items.length);
}

/** Removes a taken item, or puts it back in its place. Returns `false` when another taker may have it. */
async function settle(
  session: EtcdSession,
  { item, taker, created }: Taken & { readonly taker: string },
  how: 'ack' | 'back',
): Promise<boolean> {
  const doubt = { isSo: false };
  const removed = how === 'ack' ? [taker, item.key] : [taker];
  const own = { property: 'created', is: 'equal' } as const;
  const stands: Compare[] = [{ key: taker, ...own, than: created }];
  // The name may be that of a later item, if this one was removed by hand.
  if (how === 'ack') stands.push({ key: item.key, ...own, than: item.created });
  const answer = await session.change(
    {
      about: [taker, item.key],
      compare: stands,
      success: removed.map((key) => ({ kind: 'delete', key })),
      failure: [{ kind: 'read', key: item.key, only: 'keys' }],
    },
    { doubt },
  );
  const [left] = answer.results;
  const isLeft = left?.kind !== 'read' || left.found.some((found) => found.created === item.created);
  // While the session lives nobody else can have removed it.
  return answer.isMet || (doubt.isSo && !isLeft);
}
