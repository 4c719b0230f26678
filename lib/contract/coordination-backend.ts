import type { GrantedLease } from './granted-lease.js';
import type { KeyedRequest } from './lock-request.js';

/** The coordination features of a backend, besides locks. */
export interface CoordinationBackend {
  /** The queues of items. */
  readonly queues: Queues;
  /** The barriers and double barriers. */
  readonly barriers: Barriers;
  /** The shared values. */
  readonly cells: Cells;
}

/** One wait at a barrier. */
export interface PassRequest extends KeyedRequest {
  /** `false`: reply at once if the barrier is up. */
  readonly wait: boolean;
  /** Ends the wait: the call rejects with `signal.reason`. */
  readonly signal: AbortSignal;
}

/** One request to enter a double barrier. */
export interface EnterRequest extends KeyedRequest {
  /** The number of members that enter together. */
  readonly count: number;
  /** Ends the wait: the member is removed, then the call rejects with `signal.reason`. */
  readonly signal: AbortSignal;
  /** The caller's label, for logs and tools. */
  readonly label?: string | undefined;
}

/** A member that has entered a double barrier. */
export interface EnteredMember {
  /**
   * Held while the other members count this one as entered. Releasing it leaves the barrier without waiting for the
   * others.
   */
  readonly lease: GrantedLease;
  /**
   * Leaves the barrier, and resolves when all members that entered with this one have left. However the call ends, this
   * member has left.
   * @throws LockLostError when the member had left before, because its session had expired; `signal.reason`
   */
  leave(signal: AbortSignal): Promise<void>;
}

/**
 * Barriers and double barriers by key. A barrier is up or down. A number of members enter and leave a double barrier
 * together. `name` is what the application calls the key, for errors; default: the key. Every call throws
 * LockUnavailableError, LockConfigurationError and, once aborted, `signal.reason`.
 */
export interface Barriers {
  /** Puts the barrier up: from now on `pass` waits. Has no effect on a barrier that is up. */
  raise(key: string, signal: AbortSignal, name?: string): Promise<void>;
  /** Takes the barrier down: all waiting calls of `pass` resolve. Has no effect on a barrier that is down. */
  lift(key: string, signal: AbortSignal, name?: string): Promise<void>;
  /** Resolves to whether the barrier is down. With `wait` it resolves only when the barrier is down. */
  pass(request: PassRequest): Promise<boolean>;
  /**
   * Resolves when `count` members have entered, none of which had given up by then. A member that gives up is removed
   * before its promise rejects. If it turns out to have been counted before that, the promise resolves.
   */
  enter(request: EnterRequest): Promise<EnteredMember>;
}

/** A small value that all processes share, as it was at one moment. */
export interface Cell {
  /** The value. */
  readonly data: Buffer;
  /** Grows with every write, starting at 0. Starts again when the cell was removed and created anew. */
  readonly version: number;
  /** Differs whenever a write happened in between. */
  readonly revision: bigint;
}

/** One change of a cell. */
export interface CellChange {
  /** The new value. `undefined` removes the cell. */
  readonly data: Buffer | undefined;
  /** Applies the change only if the cell has this version, or does not exist. Without it, the change always applies. */
  readonly ifVersion?: number | 'absent' | undefined;
}

/** The result of a write. `isApplied: false`: the cell was not in the expected version. */
export type CellWrite =
  | {
      /** Whether the change was applied. */
      readonly isApplied: false;
    }
  | {
      /** Whether the change was applied. */
      readonly isApplied: true;
      /** The version that the change created; `undefined` when others have written since, or the cell was removed. */
      readonly version: number | undefined;
    };

/**
 * Values by key, each with a version. `name` is what the application calls the key, for errors; default: the key. Every
 * call throws LockUnavailableError, LockConfigurationError and, once aborted, `signal.reason`.
 */
export interface Cells {
  /** Returns the cell, never older than what this backend has written or seen. `undefined` when there is none. */
  read(key: string, signal: AbortSignal, name?: string): Promise<Cell | undefined>;
  /** Resolves with what is known to have happened. If the reply is lost, the result is found out. */
  write(key: string, change: CellChange, signal: AbortSignal, name?: string): Promise<CellWrite>;
  /** Resolves with the cell once it differs from `seen`. Versions in between are skipped. */
  next(key: string, seen: Cell | undefined, signal: AbortSignal, name?: string): Promise<Cell | undefined>;
}

/** One `put` request. */
export interface QueuePutRequest extends KeyedRequest {
  /** At least one. All are put or none, in this order. */
  readonly payloads: readonly Buffer[];
  /** The maximum number of items in the queue, including items that are taken. Without it, there is no limit. */
  readonly maxItems?: number | undefined;
  /** `false`: reply at once if there is no room. */
  readonly wait: boolean;
  /** Ends the wait: the call rejects with `signal.reason`. */
  readonly signal: AbortSignal;
}

/** One `take` request. */
export interface QueueTakeRequest extends KeyedRequest {
  /** The maximum number of items, at least one. */
  readonly atMost: number;
  /** `false`: reply at once if there is nothing to take. */
  readonly wait: boolean;
  /** Ends the wait: the call rejects with `signal.reason`. */
  readonly signal: AbortSignal;
  /** The caller's label, for logs and tools. */
  readonly label?: string | undefined;
}

/**
 * An item that belongs to one taker for as long as its lease is held. Releasing the lease puts it back in its place.
 */
export interface TakenItem {
  /** Unique to the item, and the same for every delivery of it. */
  readonly id: string;
  /** The bytes of the item. */
  readonly payload: Buffer;
  /** The lease on the item. If it is lost, the item is delivered to another taker. */
  readonly lease: GrantedLease;
  /** Removes the item. @throws LockLostError when it may have been delivered to another taker meanwhile */
  ack(): Promise<void>;
}

/**
 * First-in, first-out queues by key. A taken item remains in the queue until it is acknowledged. When the taker dies,
 * the item is delivered again, before all items that were put later. Every call throws LockUnavailableError,
 * LockConfigurationError and, once aborted, `signal.reason`.
 */
export interface Queues {
  /**
   * Resolves to whether all items were put. `false` when there was no room and the request does not wait. A request that
   * was sent when its signal aborts still resolves if the reply comes within `releaseTimeoutMs`.
   * @throws LockUnavailableError instead of a `LockTimeoutError` when it is not known whether they were put
   */
  put(request: QueuePutRequest): Promise<boolean>;
  /**
   * Resolves with one to `atMost` items, in order. Empty when there was nothing to take and the request does not wait.
   */
  take(request: QueueTakeRequest): Promise<readonly TakenItem[]>;
  /**
   * Resolves with the number of items in the queue, including items that are taken.
   * @param name what the application calls the key, for errors; default: the key
   */
  size(key: string, signal: AbortSignal, name?: string): Promise<number>;
}
