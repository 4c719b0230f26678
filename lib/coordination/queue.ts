import { check, describe } from '../contract/check.js';
import { LockConfigurationError } from '../contract/errors.js';
import type { Queues, TakenItem } from '../contract/queues.js';
import { encoded, LARGEST_BYTES } from './codec.js';
import { TakenQueueItem } from './queue-item.js';
import type { QueueItem } from './queue-item.js';
import { checkCount, checkTakeOptions, MOST_AT_ONCE } from './queue.options.js';
import type { ConsumeOptions, ResolvedQueueOptions, TakeBatchOptions, TakeOptions } from './queue.options.js';
import { checkCallOptions, checkWaitOptions } from './wait.options.js';
import type { CallOptions, WaitOptions } from './wait.options.js';
import type { Limits, Named, Waiting } from './waiting.js';

/**
 * A queue that all processes share: what is put first is taken first. An item that somebody took stays until it is
 * acknowledged; when its taker dies, it is delivered again, before all that was put later. So every item is delivered at
 * least once, and twice when a taker dies between its work and `ack()`.
 *
 * Items outlive sessions and processes. After a session loss waiters stand in line again within their time, and what was
 * taken and not acknowledged comes again.
 * Every call throws LockUnavailableError when the servers do not answer, and LockConfigurationError.
 */
export class Queue<T> {
  readonly key: string;
  readonly #at: string;
  readonly #options: ResolvedQueueOptions<T>;
  readonly #waiting: Waiting;

  /** @internal */
  constructor({ key, at }: Named, options: ResolvedQueueOptions<T>, waiting: Waiting) {
    this.key = key;
    this.#at = at;
    this.#options = options;
    this.#waiting = waiting;
  }

  /**
   * Puts one item at the end. When the connection or the session is lost with the reply, the item is looked for by its id;
   * one that was taken and acknowledged before that is put again, with the same id.
   * @throws LockTimeoutError when a queue with `maxItems` stayed full for `waitMs`, and nothing was put; LockUnavailableError,
   *   which says so when it is not known whether it was put
   */
  async put(value: T, options: WaitOptions = {}): Promise<void> {
    await this.putAll([value], options);
  }

  /** Puts items at the end, one behind the other, all or none; up to 1,000, of up to 512 kB together. @throws as `put` */
  async putAll(values: readonly T[], options: WaitOptions = {}): Promise<void> {
    checkWaitOptions(options);
    const payloads = this.#payloads(values);
    if (payloads.length === 0) return;
    const { maxItems } = this.#options;
    const { key } = this;
    const put = async ({ wait, signal }: Limits) =>
      (await this.#queues.put({ key: this.#at, name: key, payloads, maxItems, wait, signal })) ? true : null;
    // Where there is always room nobody waits for more than an answer, unless the numbers of the queue are used up.
    if (maxItems === undefined && (await this.#waiting.call(options, put))) return;
    await this.#waiting.answer({ ...options, key, why: 'is full' }, put);
  }

  /** The first item that nobody else has taken; `null` when there was none for `waitMs`. */
  async take(options: TakeOptions = {}): Promise<QueueItem<T> | null> {
    checkTakeOptions(options);
    const [item = null] = await this.#take({ ...options, atMost: 1 });
    return item;
  }

  /** The first items, as many as there are; none when there was none for `waitMs`. */
  async takeBatch(options: TakeBatchOptions): Promise<readonly QueueItem<T>[]> {
    checkTakeOptions(options, ['atMost']);
    checkCount('atMost', options.atMost, MOST_AT_ONCE);
    return this.#take(options);
  }

  /**
   * Items one after the other, for `for await`. The loop ends when the signal aborts or the application shuts down, and goes on
   * when the servers were out of reach. An item that is neither acknowledged nor put back stays taken.
   */
  consume(options: ConsumeOptions = {}): AsyncIterable<QueueItem<T>> {
    const { batch = 1, ...others } = options;
    checkTakeOptions(options, ['batch']);
    checkCount('batch', batch, MOST_AT_ONCE);
    return this.#consume({ ...others, atMost: batch });
  }

  /** How many items there are, those included that somebody has taken. */
  async size(options: CallOptions = {}): Promise<number> {
    checkCallOptions(options);
    return this.#waiting.call(options, ({ signal }) => this.#queues.size(this.#at, signal, this.key));
  }

  get #queues(): Queues {
    return this.#waiting.backend.queues;
  }

  async *#consume(options: TakeBatchOptions): AsyncGenerator<QueueItem<T>> {
    for (;;) {
      const ask = (limit: AbortSignal) => this.#take({ ...options, signal: limit, waitMs: Infinity });
      const items = [...((await this.#waiting.untilOver(options, ask)) ?? [])];
      if (items.length === 0) return;
      try {
        while (!this.#waiting.isOver(options)) {
          const item = items.shift();
          if (!item) break;
          // What was lost while the loop was busy with those before may be somebody else's by now.
          if (item.isHeld()) yield item;
        }
      } finally {
        await Promise.all(items.map((item) => item.nack()));
      }
    }
  }

  async #take({ atMost, label, ...options }: TakeBatchOptions): Promise<readonly QueueItem<T>[]> {
    const { key } = this;
    const taken = await this.#waiting.within({ ...options, key, why: 'is empty' }, async ({ wait, signal }) => {
      const items = await this.#queues.take({ key: this.#at, name: key, atMost, wait, signal, label });
      return items.length === 0 ? null : items;
    });
    return this.#held(taken ?? []);
  }

  /** The items as the application gets them, once the shutdown knows of them. */
  #held(taken: readonly TakenItem[]): readonly QueueItem<T>[] {
    try {
      taken.forEach(({ lease }) => this.#waiting.hold(lease));
    } catch (error) {
      taken.forEach(({ lease }) => void lease.release());
      throw error;
    }
    return taken.map((item) => new TakenQueueItem(item, this.#options.codec));
  }

  #payloads(values: readonly T[]): readonly Buffer[] {
    const most = this.#options.maxItems ?? MOST_AT_ONCE;
    const isList = Array.isArray(values) && values.length <= Math.min(most, MOST_AT_ONCE);
    check(isList, 'values', values, `an array of at most ${Math.min(most, MOST_AT_ONCE)}`);
    const payloads = values.map((value) => encoded(this.#options.codec, value));
    const bytes = payloads.reduce((sum, { length }) => sum + length, 0);
    if (bytes <= LARGEST_BYTES) return payloads;
    throw new LockConfigurationError(
      `values must have at most ${LARGEST_BYTES} bytes together, got ${bytes} in ${describe(values)}`,
    );
  }
}
