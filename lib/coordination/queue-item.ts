import type { TakenItem } from '../contract/queues.js';
import type { Codec } from './codec.js';

/**
 * An item that was taken, and is nobody else's until it is acknowledged or put back. `await using item = …` puts it back at
 * the end of the block unless it was acknowledged. After a session loss it is delivered to somebody else: `signal` has
 * aborted before, and `ack()` rejects.
 */
export interface QueueItem<T> extends AsyncDisposable {
  /** The same whenever this item is delivered, and of no other item: who does its work twice can tell by it. */
  readonly id: string;
  /** What was put. @throws what the codec throws at bytes that it can not read; such an item can still be acknowledged */
  readonly value: T;
  /** What was put, as it is kept. */
  readonly bytes: Buffer;
  /** Grows with every delivery of this item, as that of a lease grows with every grant of a key. */
  readonly fencingToken: bigint;
  /** Aborts with a `LockLostError` when the item may be delivered to somebody else. */
  readonly signal: AbortSignal;
  /** Whether it is surely nobody else's, by the clock at this instant. */
  isHeld(): boolean;
  /** Removes the item: its work is done. @throws LockLostError when it may have been delivered to somebody else */
  ack(): Promise<void>;
  /** Puts the item back in its place, before all that was put later. Idempotent, never rejects. */
  nack(): Promise<void>;
}

/** A taken item with its value. */
export class TakenQueueItem<T> implements QueueItem<T> {
  readonly #taken: TakenItem;
  readonly #codec: Codec<T>;
  #decoded: { readonly value: T } | undefined;
  #acked: Promise<void> | undefined;

  constructor(taken: TakenItem, codec: Codec<T>) {
    this.#taken = taken;
    this.#codec = codec;
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
    return (this.#acked ??= this.#taken.ack());
  }

  async nack(): Promise<void> {
    // Whoever has begun to acknowledge it has decided.
    await this.#acked?.catch(() => {});
    await this.#taken.lease.release();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.nack();
  }
}
