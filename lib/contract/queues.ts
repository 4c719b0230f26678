import type { GrantedLease } from './granted-lease.js';
import type { KeyedRequest } from './keyed-request.js';

/** What one `put` asks of a backend. */
export interface QueuePutRequest extends KeyedRequest {
  /** At least one; all are put or none, in this order. */
  readonly payloads: readonly Buffer[];
  /** How many items the queue may have, those included that somebody has taken; without it, any number. */
  readonly maxItems?: number | undefined;
  /** `false`: answer at once when there is no room. */
  readonly wait: boolean;
  readonly signal: AbortSignal;
}

/** What one `take` asks of a backend. */
export interface QueueTakeRequest extends KeyedRequest {
  /** How many items, at least one. */
  readonly atMost: number;
  /** `false`: answer at once when there is nothing to take. */
  readonly wait: boolean;
  readonly signal: AbortSignal;
  readonly label?: string | undefined;
}

/** An item that is nobody else's for as long as its lease stands. Releasing the lease puts it back in its place. */
export interface TakenItem {
  /** The same however often the item is delivered, and of no other item. */
  readonly id: string;
  readonly payload: Buffer;
  readonly lease: GrantedLease;
  /** Removes the item. @throws LockLostError when it may have been delivered to somebody else meanwhile */
  ack(): Promise<void>;
}

/**
 * Queues by key: what is put first is taken first, and an item that somebody took stays until it is acknowledged. When
 * the taker dies, it is delivered again, before all that was put later.
 * Every call throws LockUnavailableError, LockConfigurationError and, once aborted, `signal.reason`.
 */
export interface Queues {
  /** Whether all were put; `false` when there was no room and the request does not wait. */
  put(request: QueuePutRequest): Promise<boolean>;
  /** From one to `atMost` items, in their order; none when there was nothing and the request does not wait. */
  take(request: QueueTakeRequest): Promise<readonly TakenItem[]>;
  /**
   * How many items the queue has, those included that somebody has taken.
   * @param name what the application calls the key, for errors; default: the key
   */
  size(key: string, signal: AbortSignal, name?: string): Promise<number>;
}
