import { randomUUID } from 'node:crypto';
import type { QueuePutRequest, Queues, QueueTakeRequest, TakenItem } from '../../contract/coordination-backend.js';
import { orAbort } from '../../async/abort.js';
import { now } from '../../async/clock.js';
import { settledWithin } from '../../async/timer.js';
import { LockLostError } from '../../contract/errors.js';
import { fencingTokenOf, GrantedLease } from '../../contract/granted-lease.js';
import { checkKey } from '../../contract/key.js';
import { nameOf } from '../../contract/lock-request.js';
import { inDoubt, SessionEndedError } from '../../sessions/backend-sessions.js';
import { AnswerLostError, explained } from '../client/redis-error.js';
import { flag } from '../client/script.js';
import { acquireOne } from '../locks/acquire.js';
import { PUT, SETTLE, SIZE, TAKE } from '../scripts/coordination-scripts.js';
import { inSession } from '../session/in-session.js';
import type { QueueKind } from '../session/redis-keys.js';
import type { RedisSession } from '../session/redis-session.js';
import type { RedisShards } from '../session/redis-shards.js';
import { watchUntil } from '../session/topics.js';

/** The keys of a queue of items: its ids in order, their payloads, their takers, and the last token. */
type ItemKeys = readonly [ids: string, payloads: string, takers: string, token: string];

const NOBODY = { told() {}, mayHaveMissed() {} };

/** Either the result of an attempt, or the time after which another one may succeed. */
type Attempt<T> = { readonly found: T } | { readonly againInMs: number };

/**
 * Queues of items. Callers that wait to put or to take stand in a wait queue each, and only the first of them watches
 * the items.
 */
export class RedisQueues implements Queues {
  readonly #shards: RedisShards;
  readonly #releaseTimeoutMs: number;

  constructor(shards: RedisShards, releaseTimeoutMs: number) {
    this.#shards = shards;
    this.#releaseTimeoutMs = releaseTimeoutMs;
  }

  async put(request: QueuePutRequest): Promise<boolean> {
    const { key, payloads, maxItems = -1 } = request;
    const items = this.#itemsOf(key);
    const id = randomUUID();
    const doubt = { isSo: false };
    const values = (again: boolean) => [flag(again), id, maxItems, ...payloads];
    const lateMs = this.#releaseTimeoutMs;
    const put = this.#inTurn('put', request, async (session, signal) => {
      const [word] = await session.run(PUT, items, values, { signal, doubt, lateMs });
      if (word === 'UNKNOWN') throw new AnswerLostError();
      return word === 'PUT' ? { found: true } : { againInMs: this.#shards.lookEveryMs };
    });
    const isPut = await put.catch((error: unknown) => {
      const name = nameOf(request);
      throw doubt.isSo ? inDoubt(error, `whether it was put into "${name}"`, name) : error;
    });
    return isPut ?? false;
  }

  async take(request: QueueTakeRequest): Promise<readonly TakenItem[]> {
    const { key, atMost } = request;
    const items = this.#itemsOf(key);
    const taken = await this.#inTurn('take', request, async (session, signal) => {
      const number = session.enter(NOBODY);
      session.forget(number);
      const doubt = { isSo: false };
      const values = (again: boolean) => [flag(again), number, atMost];
      const taking = session.run(TAKE, items, values, { inBytes: true, doubt }).catch((error: unknown) => {
        // An earlier run, whose answer was lost, may have taken some.
        if (doubt.isSo) this.#findAndPutBack(session, items, number, atMost);
        throw error;
      });
      const [word, ...rest] = await orBackAgain(taking, signal, (late) => this.#putBack(session, items, number, late));
      if (word === 'NONE') return { againInMs: this.#timeToLook(rest[0]) };
      const [token, ...found] = rest as Buffer[];
      return { found: this.#taken({ session, items, number, name: nameOf(request) }, String(token), found) };
    });
    return taken ?? [];
  }

  async size(key: string, signal: AbortSignal, name = key): Promise<number> {
    const items = this.#itemsOf(key);
    const [, size] = await inSession(this.#shards.of(key), { key: name, wait: false, signal }, (session, limit) =>
      session.run(SIZE, items, [], { signal: limit }),
    );
    return Number(size);
  }

  /** Attempts once, or with `wait` until the attempt succeeds, when those that came before have succeeded. */
  async #inTurn<T>(
    kind: QueueKind,
    request: QueuePutRequest | QueueTakeRequest,
    attempt: (session: RedisSession, signal: AbortSignal) => Promise<Attempt<T>>,
  ): Promise<T | undefined> {
    const { key, wait, signal } = request;
    const ask = (limit: AbortSignal, isLong: boolean) =>
      inSession(
        this.#shards.of(key),
        { key: nameOf(request), wait: isLong, isContinued: isLong, signal: limit },
        attempt,
      );
    if (!wait) {
      const answer = await ask(signal, false);
      return 'found' in answer ? answer.found : undefined;
    }
    const turn = await this.#turn(kind, request);
    try {
      const [ids] = this.#itemsOf(key);
      return await watchUntil(this.#shards.of(key).topics, ids, signal, () => ask(signal, true));
    } finally {
      // A caller that has given up does not wait for the answer to that, too.
      const released = turn.release();
      if (!signal.aborted) await released;
    }
  }

  async #turn(kind: QueueKind, request: QueuePutRequest | QueueTakeRequest): Promise<GrantedLease> {
    const { key, signal } = request;
    const sessions = this.#shards.of(key);
    const { lookEveryMs, keys } = sessions;
    const wanted = {
      name: nameOf(request),
      queue: keys.queue(kind, key),
      entry: { mode: 'exclusive', permits: 1, most: 1, label: undefined },
      releaseTimeoutMs: this.#releaseTimeoutMs,
      lookEveryMs,
    } as const;
    const waiting = { key, mode: 'exclusive', line: 'fifo', wait: true, signal } as const;
    const hold = await inSession(sessions, waiting, (session, limit) => acquireOne(session, wanted, waiting, limit));
    // A request that waits is granted, or throws.
    return (hold as NonNullable<typeof hold>).lease;
  }

  #taken(by: Taker, token: string, found: readonly Buffer[]): readonly TakenItem[] {
    return found.flatMap((payload, place) =>
      place % 2 === 0 ? [] : [this.#item(by, token, String(found[place - 1]), payload)],
    );
  }

  #item(by: Taker, token: string, id: string, payload: Buffer): TakenItem {
    const { session, name } = by;
    const lost = () => new LockLostError(name, 'the item may have been delivered to another taker');
    let isAcknowledged = false;
    const lease = new GrantedLease({
      key: name,
      mode: 'exclusive',
      fencingToken: fencingTokenOf(BigInt(token)),
      isCurrent: () => now() < session.deadline,
      giveBack: async () => {
        carried.leave();
        if (isAcknowledged) return;
        const back = session.persistently(() => this.#settle(by, id, 'back'));
        if (session.isLinked) await settledWithin(back, this.#releaseTimeoutMs);
      },
    });
    const carried = session.leases.add(lease);
    const ack = async () => {
      if (!lease.isHeld()) throw lost();
      const word = await this.#settle(by, id, 'ack').catch((error: unknown) => {
        throw error instanceof SessionEndedError ? lost() : explained(error, name);
      });
      isAcknowledged = true;
      await lease.release();
      if (word === 'LOST') throw lost();
    };
    return { id, payload, lease, ack };
  }

  async #settle({ session, items, number }: Omit<Taker, 'name'>, id: string, how: 'ack' | 'back'): Promise<string> {
    const values = (again: boolean) => [flag(again), number, id, how];
    return (await session.run(SETTLE, items, values))[0];
  }

  /** Puts items back that were taken for a caller that had given up. */
  #putBack(session: RedisSession, items: ItemKeys, number: number, [word, , ...found]: readonly unknown[]): void {
    if (word !== 'TAKEN') return;
    const ids = found.filter((_, place) => place % 2 === 0).map(String);
    const by = { session, items, number };
    void session.persistently(async () => {
      for (const id of ids) await this.#settle(by, id, 'back');
    });
  }

  /** Puts items back that were taken by a request without an answer. */
  #findAndPutBack(session: RedisSession, items: ItemKeys, number: number, atMost: number): void {
    void session.persistently(async () => {
      this.#putBack(session, items, number, await session.run(TAKE, items, ['own', number, atMost]));
    });
  }

  #timeToLook(leftMs: unknown): number {
    const { lookEveryMs } = this.#shards;
    return Number(leftMs) < 0 ? lookEveryMs : Math.min(Number(leftMs), lookEveryMs);
  }

  #itemsOf(key: string): ItemKeys {
    checkKey(key);
    const of = (part: string) => this.#shards.of(key).keys.of(part, key);
    return [of('items'), of('payloads'), of('takers'), of('taken')];
  }
}

interface Taker {
  readonly session: RedisSession;
  readonly items: ItemKeys;
  readonly number: number;
  /** The queue as the application calls it. */
  readonly name: string;
}

/** Settles as the promise does, or rejects with `signal.reason`. A result that comes later is passed to `undo`. */
async function orBackAgain<T>(promise: Promise<T>, signal: AbortSignal, undo: (late: T) => void): Promise<T> {
  let isLate = false;
  const undone = promise.then((result) => {
    if (isLate) undo(result);
    return result;
  });
  undone.catch(() => {});
  try {
    return await orAbort(undone, signal);
  } catch (error) {
    isLate = true;
    throw error;
  }
}
