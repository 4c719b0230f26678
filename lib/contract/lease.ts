/**
 * The modes in which a key is held:
 * - `exclusive`: alone.
 * - `read`: together with other readers.
 * - `write`: alone among readers.
 * - `permit`: as one of several permits.
 */
export type LeaseMode = 'exclusive' | 'read' | 'write' | 'permit';

/**
 * The guarantees of a lease, by state:
 * - `held`: the backend grants the key to no other holder.
 * - `suspended`: the backend is out of reach, but the lease has not expired. No other holder has the key.
 * - `revoking`: still held. The holder was asked to release the key, by a caller or because it has been held for too
 *   long.
 * - `lost`: another holder may have the key by now.
 * - `released`: released by its holder.
 */
export type LeaseState = 'held' | 'suspended' | 'revoking' | 'lost' | 'released';

/** The lease that a caller holds while it has a lock. `await using lease = …` releases it at the end of the block. */
export interface Lease extends AsyncDisposable {
  /** The key as the application wrote it. */
  readonly key: string;
  /** The mode in which the key is held. */
  readonly mode: LeaseMode;
  /**
   * Grows with every grant of this key, across processes, restarts and fail-overs. Pass it to the storage that the lock
   * protects, and make the storage reject a smaller one. Only that stops a holder that was paused without noticing.
   */
  readonly fencingToken: bigint;
  /** The time of the grant, by this process's own wall clock. */
  readonly acquiredAt: Date;
  /** The state as far as it is known. Decide by `isHeld()` instead. */
  readonly state: LeaseState;
  /**
   * Aborts when the lease ends or is to end:
   * - with a `LockLostError` when the lease is lost;
   * - with a `LockRevokedError` when the holder is asked to release the key;
   * - with a `LockOverdueError` when the lease has been held for `maxHeldMs`.
   */
  readonly signal: AbortSignal;
  /** Whether the lease is valid at this instant. It reads the monotonic clock, not a flag that was set earlier. */
  isHeld(): boolean;
  /** Releases the key. Idempotent, never rejects. Resolves when this lease blocks no other contender any more. */
  release(): Promise<void>;
  /** Returns the lease as JSON data, for `JSON.stringify(lease)`, or `return { lease }` from a controller. */
  toJSON(): LeaseJson;
}

/** A lease at one instant, as data. */
export interface LeaseJson {
  /** The key as the application wrote it. */
  readonly key: string;
  /** The mode in which the key is held. */
  readonly mode: LeaseMode;
  /** Decimal digits: JSON has no integers of 64 bits. `BigInt(text)` reads it. */
  readonly fencingToken: string;
  /** The time of the grant in the ISO format. */
  readonly acquiredAt: string;
  /** The state as far as it is known. */
  readonly state: LeaseState;
}

/** Returns the fields that `toJSON()` of every lease begins with. */
export function leaseJson({ key, mode, fencingToken, acquiredAt, state }: Lease): LeaseJson {
  return { key, mode, fencingToken: String(fencingToken), acquiredAt: acquiredAt.toISOString(), state };
}

/** A view of another lease. It delegates everything except `release`. */
export abstract class LeaseView implements Lease {
  readonly #lease: Lease;

  constructor(
    lease: Lease,
    readonly mode: LeaseMode = lease.mode,
  ) {
    this.#lease = lease;
  }

  get key(): string {
    return this.#lease.key;
  }

  get fencingToken(): bigint {
    return this.#lease.fencingToken;
  }

  get acquiredAt(): Date {
    return this.#lease.acquiredAt;
  }

  get state(): LeaseState {
    return this.#lease.state;
  }

  get signal(): AbortSignal {
    return this.#lease.signal;
  }

  isHeld(): boolean {
    return this.#lease.isHeld();
  }

  abstract release(): Promise<void>;

  toJSON(): LeaseJson {
    return leaseJson(this);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }
}
