/** How a key is held: alone, together with other readers, alone among readers, or as one of several permits. */
export type LeaseMode = 'exclusive' | 'read' | 'write' | 'permit';

/**
 * What may be assumed about a lease.
 * - `held`: the backend grants the key to nobody else.
 * - `suspended`: the backend is out of reach, but the lease's time has not run out: still nobody else's.
 * - `revoking`: held, and asked to give way, by somebody or because it has been held for too long.
 * - `lost`: it may be somebody else's by now.
 * - `released`: given back by its holder.
 */
export type LeaseState = 'held' | 'suspended' | 'revoking' | 'lost' | 'released';

/** What a caller holds while it has a lock. `await using lease = …` releases it at the end of the block. */
export interface Lease extends AsyncDisposable {
  /** The key as the application wrote it. */
  readonly key: string;
  readonly mode: LeaseMode;
  /**
   * Grows with every grant of this key, across processes, restarts and fail-overs. Hand it to the storage that the
   * lock protects and let it refuse a smaller one: only that stops a holder which was paused and does not know it.
   */
  readonly fencingToken: bigint;
  /** By this process's own wall clock. */
  readonly acquiredAt: Date;
  /** As far as is known; `isHeld()` is what to decide by. */
  readonly state: LeaseState;
  /**
   * Aborts with a `LockLostError` when the lease is lost, with a `LockRevokedError` when asked to give way, with a
   * `LockOverdueError` when it has been held for `maxHeldMs`.
   */
  readonly signal: AbortSignal;
  /** Whether the lease still stands, by the monotonic clock at this instant and not by a flag set earlier. */
  isHeld(): boolean;
  /** Gives the key back. Idempotent, never rejects; resolves once nobody else is kept waiting by this lease. */
  release(): Promise<void>;
  /** The lease as JSON may carry it: `JSON.stringify(lease)`, or `return { lease }` from a controller. */
  toJSON(): LeaseJson;
}

/** A lease at one instant, as data. */
export interface LeaseJson {
  readonly key: string;
  readonly mode: LeaseMode;
  /** In decimal digits: JSON has no integers of 64 bits. `BigInt(text)` reads it. */
  readonly fencingToken: string;
  /** In the ISO format. */
  readonly acquiredAt: string;
  readonly state: LeaseState;
}

/** What `toJSON()` of every lease begins with. */
export function leaseJson({ key, mode, fencingToken, acquiredAt, state }: Lease): LeaseJson {
  return { key, mode, fencingToken: String(fencingToken), acquiredAt: acquiredAt.toISOString(), state };
}

/** A lease as somebody sees it: another's in everything, but for how it is given back. */
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
