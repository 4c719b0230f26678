import { randomUUID } from 'node:crypto';
import { LockLostError } from '../contract/errors.js';
import { fencingTokenOf } from '../contract/fencing-token.js';
import { GrantedLease } from '../contract/granted-lease.js';
import type { Queues, QueuePutRequest, QueueTakeRequest, TakenItem } from '../contract/queues.js';
import { MemoryLine } from './memory-line.js';

interface Item {
  readonly id: string;
  readonly payload: Buffer;
  lease?: GrantedLease | undefined;
}

/** The items of one queue in their order, and who waits to put and to take. */
class MemoryQueue {
  readonly items: Item[] = [];
  readonly putters = new MemoryLine();
  readonly takers = new MemoryLine();
}

/** Queues of one process: the reference that the contract is read from. */
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
