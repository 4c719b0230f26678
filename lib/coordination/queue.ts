import { check, describe } from '../contract/check.js';
import type { Queues, TakenItem } from '../contract/coordination-backend.js';
import { LockConfigurationError } from '../contract/errors.js';
import { encoded, LARGEST_BYTES } from './codec.js';
import type { Codec } from './codec.js';
import { checkCount, checkTakeOptions, MOST_AT_ONCE } from './queue.options.js';
import type { ConsumeOptions, ResolvedQueueOptions, TakeBatchOptions, TakeOptions } from './queue.options.js';
import { checkCallOptions, checkWaitOptions } from './waiting.js';
import type { CallOptions, Limits, Named, Waiting, WaitOptions } from './waiting.js';

/**
 * A queue that all processes share: first put, first taken. An item that was taken remains in the queue until it is
 * acknowledged. When its taker dies, it is delivered again, before all items that were put later. So every item is
 * delivered at least once, and twice when a taker dies between its work and `ack()`.
 *
 * Items outlive sessions and processes. After a session loss, waiting calls queue again within their time. Items that
 * were taken and not acknowledged are delivered again.
 * Every call throws LockUnavailableError when the servers do not answer, and LockConfigurationError.
 */
export class Queue<T> {
  /** The key as the application wrote it. */
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
   * Puts one item at the end. When the connection or the session is lost with the reply, the item is looked up by its
   * id. An item that was taken and acknowledged before that is put again, with the same id.
   * @throws LockTimeoutError when a queue with `maxItems` remained full for `waitMs`, and nothing was put;
   *   LockUnavailableError, which says so when it is not known whether it was put
   */
  async put(value: T, options: WaitOptions = {}): Promise<void> {
    await this.putAll([value], options);
  }

  /** Puts items at the end, in order, all or none: up to 1,000, of up to 512 kB together. @throws as `put` */
  async putAll(values: readonly T[], options: WaitOptions = {}): Promise<void> {
    checkWaitOptions(options);
    const payloads = this.#payloads(values);
    if (payloads.length === 0) return;
    const { maxItems } = this.#options;
    const { key } = this;
    const since = this.#waiting.timeOfEvents;
    const put = async ({ wait, signal }: Limits) =>
      (await this.#queues.put({ key: this.#at, name: key, payloads, maxItems, wait, signal })) ? true : null;
    // Without a limit there is room, so one request is enough, unless the queue's sequence numbers are used up.
    if (maxItems !== undefined || !(await this.#waiting.call(options, put))) {
      await this.#waiting.answer({ ...options, key, why: 'is full' }, put);
    }
    this.#waiting.publish({ action: 'put', key, count: payloads.length, itemId: undefined, since });
  }

  /** Takes the first item that is not taken yet; `null` when there was none for `waitMs`. */
  async take(options: TakeOptions = {}): Promise<QueueItem<T> | null> {
    checkTakeOptions(options);
    const [item = null] = await this.#take({ ...options, atMost: 1 });
    return item;
  }

  /** Takes the first items, as many as there are; none when there was none for `waitMs`. */
  async takeBatch(options: TakeBatchOptions): Promise<readonly QueueItem<T>[]> {
    checkTakeOptions(options, ['atMost']);
    checkCount('atMost', options.atMost, MOST_AT_ONCE);
    return this.#take(options);
  }

  /**
   * Returns the items one after the other, for `for await`. The loop ends when the signal aborts or the application
   * shuts down. It continues when the servers were out of reach. An item that is neither acknowledged nor put back
   * remains taken.
   */
  consume(options: ConsumeOptions = {}): AsyncIterable<QueueItem<T>> {
    const { batch = 1, ...others } = options;
    checkTakeOptions(options, ['batch']);
    checkCount('batch', batch, MOST_AT_ONCE);
    return this.#consume({ ...others, atMost: batch });
  }

  /** The number of items, including items that are taken and not yet acknowledged. */
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
          // An item whose lease was lost while the loop was busy with earlier items may have another taker by now.
          if (item.isHeld()) yield item;
        }
      } finally {
        await Promise.all(items.map((item) => item.nack()));
      }
    }
  }

  async #take({ atMost, label, ...options }: TakeBatchOptions): Promise<readonly QueueItem<T>[]> {
    const { key } = this;
    const since = this.#waiting.timeOfEvents;
    const take = async ({ wait, signal }: Limits) => {
      const items = await this.#queues.take({ key: this.#at, name: key, atMost, wait, signal, label });
      return items.length === 0 ? null : items;
    };
    const of = { ...options, key, label, kind: 'queue', mode: 'exclusive' } as const;
    const within = () => this.#waiting.within<readonly TakenItem[]>({ ...of, why: 'is empty' }, take);
    const taken = (await this.#waiting.acquire(of, within)) ?? [];
    taken.forEach(({ id }) => this.#waiting.publish({ action: 'taken', key, count: 1, itemId: id, since }));
    return taken.map((item) => new TakenQueueItem(item, this.#options.codec, { key, waiting: this.#waiting }));
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

/**
 * An item that was taken, and belongs to this taker alone until it is acknowledged or put back. `await using item = …`
 * puts it back at the end of the block unless it was acknowledged. After a session loss it is delivered to another
 * taker: `signal` has aborted before, and `ack()` rejects.
 */
export interface QueueItem<T> extends AsyncDisposable {
  /**
   * The same at every delivery of this item, and of no other item. It shows a taker that the work is done a second
   * time.
   */
  readonly id: string;
  /**
   * The value that was put.
   * @throws what the codec throws for bytes that it cannot read; such an item can still be acknowledged
   */
  readonly value: T;
  /** The bytes as they are stored. */
  readonly bytes: Buffer;
  /** Grows with every delivery of this item, as a lease's token grows with every grant of a key. */
  readonly fencingToken: bigint;
  /** Aborts with a `LockLostError` when the item may be delivered to another taker. */
  readonly signal: AbortSignal;
  /** Whether no other taker can have the item, by the clock at this instant. */
  isHeld(): boolean;
  /** Removes the item: its work is done. @throws LockLostError when it may have been delivered to another taker */
  ack(): Promise<void>;
  /** Puts the item back in its place, before all items that were put later. Idempotent, never rejects. */
  nack(): Promise<void>;
}

/** The queue that an item was taken from. */
interface Origin {
  readonly key: string;
  readonly waiting: Waiting;
}

/** A taken item with its value. */
class TakenQueueItem<T> implements QueueItem<T> {
  readonly #taken: TakenItem;
  readonly #codec: Codec<T>;
  readonly #queue: Origin;
  #decoded: { readonly value: T } | undefined;
  #acked: Promise<void> | undefined;
  #isTold = false;

  constructor(taken: TakenItem, codec: Codec<T>, queue: Origin) {
    this.#taken = taken;
    this.#codec = codec;
    this.#queue = queue;
  }

  get id(): string {
    return this.#taken.id;
  }

  get value(): T {
    return (this.#decoded ??= { value: this.#codec.decode(this.bytes) }).value;
  }

  get bytes(): Buffer {
    return this.#taken.payload;
  }

  get fencingToken(): bigint {
    return this.#taken.lease.fencingToken;
  }

  get signal(): AbortSignal {
    return this.#taken.lease.signal;
  }

  isHeld(): boolean {
    return this.#taken.lease.isHeld();
  }

  ack(): Promise<void> {
    return (this.#acked ??= this.#ack());
  }

  async nack(): Promise<void> {
    // An acknowledgement that has begun takes precedence.
    await this.#acked?.catch(() => {});
    const isLost = this.#taken.lease.state === 'lost';
    await this.#taken.lease.release();
    // An item whose lease is lost is returned by the servers.
    if (!isLost) this.#tell('returned');
  }

  async #ack(): Promise<void> {
    await this.#taken.ack();
    this.#tell('acked');
  }

  #tell(action: 'acked' | 'returned'): void {
    const { key, waiting } = this.#queue;
    if (!this.#isTold) waiting.publish({ action, key, count: 1, itemId: this.id });
    this.#isTold = true;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.nack();
  }
}
