import type { GrantedLease } from './granted-lease.js';
import type { KeyedRequest } from './lock-request.js';

/** What a backend has beside locks. */
export interface CoordinationBackend {
  readonly queues: Queues;
  readonly barriers: Barriers;
  readonly cells: Cells;
}

/** What one wait at a barrier asks of a backend. */
export interface PassRequest extends KeyedRequest {
  /** `false`: answer at once when the barrier is up. */
  readonly wait: boolean;
  readonly signal: AbortSignal;
}

/** What one who wants in asks of a backend. */
export interface EnterRequest extends KeyedRequest {
  /** How many enter together. */
  readonly count: number;
  readonly signal: AbortSignal;
  readonly label?: string | undefined;
}

/** One who has entered a double barrier. */
export interface EnteredMember {
  /** Stands while the others know this one to be in. Releasing it goes out without waiting for anybody. */
  readonly lease: GrantedLease;
  /**
   * Goes out, and resolves when all who were in with this one have gone. Whatever ends it, this one is out.
   * @throws LockLostError when it was out before, because its session was over; `signal.reason`
   */
  leave(signal: AbortSignal): Promise<void>;
}

/**
 * Barriers by key, up or down, and double barriers, which a number of members enter together and leave together.
 * `name` is what the application calls the key, for errors; default: the key.
 * Every call throws LockUnavailableError, LockConfigurationError and, once aborted, `signal.reason`.
 */
export interface Barriers {
  raise(key: string, signal: AbortSignal, name?: string): Promise<void>;
  lift(key: string, signal: AbortSignal, name?: string): Promise<void>;
  /** Resolves to whether the barrier is down: with `wait` only once it is. */
  pass(request: PassRequest): Promise<boolean>;
  /**
   * Resolves when `count` members are in, none of whom had given up by then. Whoever gives up is out before its promise
   * rejects; when it turns out to have been counted in before that, the promise resolves.
   */
  enter(request: EnterRequest): Promise<EnteredMember>;
}

/** A small value that all processes share, as it was at one moment. */
export interface Cell {
  readonly data: Buffer;
  /** Grows with every write, from 0 on; begins again when the cell was removed and made anew. */
  readonly version: number;
  /** Differs whenever something was written in between. */
  readonly revision: bigint;
}

/** What is to become of a cell. */
export interface CellChange {
  /** `undefined` removes it. */
  readonly data: Buffer | undefined;
  /** Only when the cell is in this version, or not there; without it, whatever it is now. */
  readonly ifVersion?: number | 'absent' | undefined;
}

/** `isApplied: false`: the cell was not as the change expected. */
export type CellWrite =
  | { readonly isApplied: false }
  | {
      readonly isApplied: true;
      /** What the change made; `undefined` when others have written since, or it was removed. */
      readonly version: number | undefined;
    };

/**
 * Values by key, with a version each. `name` is what the application calls the key, for errors; default: the key.
 * Every call throws LockUnavailableError, LockConfigurationError and, once aborted, `signal.reason`.
 */
export interface Cells {
  /** The cell, never older than what this backend has written or seen; `undefined` when there is none. */
  read(key: string, signal: AbortSignal, name?: string): Promise<Cell | undefined>;
  /** Resolves with what is known to have happened: a lost reply is found out about. */
  write(key: string, change: CellChange, signal: AbortSignal, name?: string): Promise<CellWrite>;
  /** Resolves with the cell once it is another than `seen`; what came in between is skipped. */
  next(key: string, seen: Cell | undefined, signal: AbortSignal, name?: string): Promise<Cell | undefined>;
}

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
