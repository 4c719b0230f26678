import { randomUUID } from 'node:crypto';
import { onAbort } from '../async/abort.js';
import { deferred } from '../async/deferred.js';
import type {
  Barriers,
  Cell,
  CellChange,
  Cells,
  CellWrite,
  CoordinationBackend,
  EnteredMember,
  EnterRequest,
  PassRequest,
  QueuePutRequest,
  Queues,
  QueueTakeRequest,
  TakenItem,
} from '../contract/coordination-backend.js';
import { LockLostError } from '../contract/errors.js';
import type { SurveyedQueue } from '../contract/survey.js';
import { fencingTokenOf, GrantedLease } from '../contract/granted-lease.js';
import { MemoryCrowd } from './memory-contenders.js';

/** Queues, barriers and shared values inside one process. */
export class MemoryCoordination implements CoordinationBackend {
  readonly queues = new MemoryQueues();
  readonly barriers = new MemoryBarriers();
  readonly cells = new MemoryCells();
}

interface BarrierEntry {
  readonly crowd: MemoryCrowd;
  readonly waiting: Set<object>;
  readonly inside: Set<object>;
}

/** Barriers inside one process: the reference implementation of the contract. */
export class MemoryBarriers implements Barriers {
  readonly #up = new Set<string>();
  readonly #atBarriers = new MemoryCrowd();
  readonly #gatherings = new Map<string, BarrierEntry>();
  #tokens = 0n;

  async raise(key: string): Promise<void> {
    this.#up.add(key);
  }

  async lift(key: string): Promise<void> {
    this.#up.delete(key);
    this.#atBarriers.look();
  }

  async pass({ key, wait, signal }: PassRequest): Promise<boolean> {
    if (wait) await this.#atBarriers.until(() => !this.#up.has(key), signal);
    return !this.#up.has(key);
  }

  async enter({ key, name = key, count, signal }: EnterRequest): Promise<EnteredMember> {
    const gathering = this.#gatheringOf(key);
    const { crowd, waiting, inside } = gathering;
    const member = {};
    waiting.add(member);
    if (inside.size > 0 || waiting.size >= count) this.#letIn(gathering);
    await crowd
      .until(() => inside.has(member), signal)
      .catch((error: unknown) => {
        waiting.delete(member);
        // A member that the others have counted has entered even when it gives up: they rely on it.
        if (!inside.has(member)) throw error;
      });
    return this.#entered(name, gathering, member);
  }

  #letIn({ crowd, waiting, inside }: BarrierEntry): void {
    waiting.forEach((member) => inside.add(member));
    waiting.clear();
    crowd.look();
  }

  #entered(key: string, { crowd, inside }: BarrierEntry, member: object): EnteredMember {
    const goOut = () => {
      inside.delete(member);
      crowd.look();
    };
    const lease = new GrantedLease({
      key,
      mode: 'read',
      fencingToken: fencingTokenOf(++this.#tokens),
      isCurrent: () => true,
      giveBack: async () => goOut(),
    });
    const leave = async (signal: AbortSignal) => {
      if (!lease.isHeld()) throw new LockLostError(key, 'the others were told that this one had left');
      const others = [...inside].filter((other) => other !== member);
      await lease.release();
      await crowd.until(() => others.every((other) => !inside.has(other)), signal);
    };
    return { lease, leave };
  }

  #gatheringOf(key: string): BarrierEntry {
    const gathering = this.#gatherings.get(key) ?? {
      crowd: new MemoryCrowd(),
      waiting: new Set<object>(),
      inside: new Set<object>(),
    };
    this.#gatherings.set(key, gathering);
    return gathering;
  }
}

/** Shared values inside one process: the reference implementation of the contract. */
export class MemoryCells implements Cells {
  readonly #cells = new Map<string, Cell>();
  readonly #observers = new MemoryCrowd();
  #revisions = 0n;

  async read(key: string): Promise<Cell | undefined> {
    return this.#cells.get(key);
  }

  async write(key: string, { data, ifVersion }: CellChange): Promise<CellWrite> {
    const before = this.#cells.get(key);
    if (ifVersion !== undefined && (before?.version ?? 'absent') !== ifVersion) return { isApplied: false };
    const version = before ? before.version + 1 : 0;
    if (data === undefined) this.#cells.delete(key);
    else this.#cells.set(key, { data, version, revision: ++this.#revisions });
    this.#observers.look();
    return { isApplied: true, version: data && version };
  }

  async next(key: string, seen: Cell | undefined, signal: AbortSignal): Promise<Cell | undefined> {
    const now = () => this.#cells.get(key);
    await this.#observers.until(() => now()?.revision !== seen?.revision, signal);
    return now();
  }
}

interface Item {
  readonly id: string;
  readonly payload: Buffer;
  lease?: GrantedLease | undefined;
}

/** The items of one queue in order, and the callers that wait to put and to take. */
class MemoryQueue {
  readonly items: Item[] = [];
  readonly putters = new MemoryLine();
  readonly takers = new MemoryLine();
}

/** Queues inside one process: the reference implementation of the contract. */
export class MemoryQueues implements Queues {
  readonly #queues = new Map<string, MemoryQueue>();
  #tokens = 0n;

  async put({ key, payloads, maxItems = Infinity, wait, signal }: QueuePutRequest): Promise<boolean> {
    const queue = this.#queueOf(key);
    const tryPut = () => {
      if (queue.items.length + payloads.length > maxItems) return undefined;
      queue.items.push(...payloads.map((payload) => ({ id: randomUUID(), payload })));
      queue.takers.look();
      return true;
    };
    return (await queue.putters.ask(tryPut, wait, signal)) ?? false;
  }

  async take({ key, name = key, atMost, wait, signal }: QueueTakeRequest): Promise<readonly TakenItem[]> {
    const queue = this.#queueOf(key);
    const tryTake = () => {
      const free = queue.items.filter(({ lease }) => !lease).slice(0, atMost);
      return free.length === 0 ? undefined : free.map((item) => this.#taken(name, queue, item));
    };
    return (await queue.takers.ask(tryTake, wait, signal)) ?? [];
  }

  async size(key: string): Promise<number> {
    return this.#queueOf(key).items.length;
  }

  /** The queues that have items. */
  get sizes(): readonly SurveyedQueue[] {
    const sizes = [...this.#queues].map(([key, { items }]) => ({ key, items: items.length }));
    return sizes.filter(({ items }) => items > 0);
  }

  #queueOf(key: string): MemoryQueue {
    const queue = this.#queues.get(key) ?? new MemoryQueue();
    this.#queues.set(key, queue);
    return queue;
  }

  #taken(key: string, queue: MemoryQueue, item: Item): TakenItem {
    const lease = new GrantedLease({
      key,
      mode: 'exclusive',
      fencingToken: fencingTokenOf(++this.#tokens),
      isCurrent: () => true,
      giveBack: async () => {
        item.lease = undefined;
        queue.takers.look();
      },
    });
    item.lease = lease;
    const ack = async () => {
      if (!lease.isHeld()) throw new LockLostError(key, 'the item may have been delivered to somebody else');
      queue.items.splice(queue.items.indexOf(item), 1);
      await lease.release();
      queue.putters.look();
    };
    return { id: item.id, payload: item.payload, lease, ack };
  }
}

type Look = () => boolean;

/** Callers that wait until their attempt succeeds, first come first served. */
class MemoryLine {
  readonly #waiting: Look[] = [];

  /**
   * Resolves with the result of `attempt` once it returns one. Without `wait`, resolves with `undefined` at once when
   * it does not.
   */
  async ask<T>(attempt: () => T | undefined, wait: boolean, signal: AbortSignal): Promise<T | undefined> {
    signal.throwIfAborted();
    const answer = this.#waiting.length === 0 || !wait ? attempt() : undefined;
    if (answer !== undefined || !wait) return answer;
    const answered = deferred<T>();
    const look = () => {
      const found = attempt();
      if (found !== undefined) answered.resolve(found);
      return found !== undefined;
    };
    this.#waiting.push(look);
    const dispose = onAbort(signal, (reason) => {
      const place = this.#waiting.indexOf(look);
      // A caller that was served in this turn is not in line any more: the abort comes too late.
      if (place === -1) return;
      this.#waiting.splice(place, 1);
      answered.reject(reason);
      this.look();
    });
    return answered.promise.finally(dispose);
  }

  /** Serves the first callers after a change, for as long as the attempt of the first succeeds. */
  look(): void {
    while (this.#waiting[0]?.()) this.#waiting.shift();
  }
}
