import type { Queue, QueueItem } from '../../../../lib/coordination/queue.js';
import { sharedNow } from '../../../robustness/clock.js';
import { actUntilFinished, passSome } from '../desk.js';
import type { Desk } from '../desk.js';
import { withLimits, workUnder } from '../working.js';

const KEY = 'letters';
const MOST_ITEMS = 30;

/**
 * Puts and takes. Items are acknowledged, put back, or put back because of an error. The last clients empty the queue.
 */
export async function queue(desk: Desk): Promise<void> {
  const client = new QueueClient(desk);
  await actUntilFinished(desk, () => client.act());
  await client.empty();
}

class QueueClient {
  readonly #desk: Desk;
  readonly #queue: Queue<string>;
  #count = 0;

  constructor(desk: Desk) {
    this.#desk = desk;
    this.#queue = desk.coordination.queue<string>(KEY, { maxItems: MOST_ITEMS });
  }

  async act(): Promise<void> {
    const deed = this.#desk.random.weighted({ put: 4, take: 5, size: 0.3 });
    if (deed === 'put') return this.#put();
    if (deed === 'take') return this.#take(this.#desk.random.pick([1, 1, 1, 3]));
    await this.#size();
  }

  /** All clients empty the queue at the end, so the last one to put does as well. */
  async empty(): Promise<void> {
    const until = sharedNow() + this.#desk.orders.finalLimitMs;
    while (sharedNow() < until && (await this.#size()) !== 0) {
      await this.#take(3, true);
      await passSome(this.#desk, this.#desk.orders.pauseMs, undefined);
    }
  }

  async #put(): Promise<void> {
    const values = Array.from(
      { length: this.#desk.random.pick([1, 1, 2]) },
      () => `${this.#desk.name}/${++this.#count}`,
    );
    await this.#desk.calls.make({ on: 'queue', key: KEY, ask: 'put', values }, () =>
      withLimits(this.#desk, (limits) => this.#queue.putAll(values, limits)),
    );
  }

  async #take(atMost: number, isLast = false): Promise<void> {
    const taken = await this.#desk.calls.make(
      { on: 'queue', key: KEY, ask: 'take', atMost },
      () => withLimits(this.#desk, (limits) => this.#queue.takeBatch({ atMost, ...limits })),
      { answerOf: (items) => ({ items: items.map(entryOf) }) },
    );
    for (const item of taken.value ?? []) await this.#work(item, isLast, taken.id);
  }

  async #work(item: QueueItem<string>, isLast: boolean, call: string): Promise<void> {
    const { id, value, fencingToken, signal } = item;
    const held = { key: `${KEY}/${id}`, fencingToken, signal, isHeld: () => item.isHeld() };
    await workUnder(this.#desk, held, { kind: 'item', call });
    const ask = isLast || this.#desk.random.chance(0.8) ? 'ack' : 'nack';
    await this.#desk.calls.make({ on: 'queue', key: KEY, ask, value, token: String(fencingToken) }, () => item[ask]());
  }

  async #size(): Promise<number | undefined> {
    const made = await this.#desk.calls.make({ on: 'queue', key: KEY, ask: 'size' }, () => this.#queue.size(), {
      answerOf: (value) => ({ value }),
    });
    return made.value;
  }
}

function entryOf({ id, value, fencingToken }: QueueItem<string>) {
  return { id, value, token: String(fencingToken) };
}
