import { check } from './check.js';
import type { ContenderOwner } from './contender.js';
import type { GrantedLease } from './granted-lease.js';
import type { Lease } from './lease.js';
import type { LockRequest } from './lock-request.js';

/** One campaign, as a backend sees it. */
export interface CampaignRequest extends LockRequest {
  /** The value that the candidate proclaims when it is elected. */
  readonly value?: string | undefined;
}

/** An election that was won. */
export interface WonElection {
  /** The lease on the leadership. When it is released, the next candidate leads. */
  readonly lease: GrantedLease;
  /**
   * Publishes the value to all observers of the election.
   * @throws LockLostError, LockUnavailableError, LockConfigurationError
   */
  readonly proclaim: (value: string) => Promise<void>;
}

/** The state of an election at one moment. */
export interface Sighting {
  /** The leader at that moment, or `null` when there was none. */
  readonly leader: Leader | null;
  /**
   * Resolves when the state may have changed: a hint to look again. Rejects with `signal.reason`, leaving no watch.
   * Rejects with LockUnavailableError or LockConfigurationError when the state cannot be known.
   */
  readonly changed: (signal: AbortSignal) => Promise<void>;
}

/** The elections of a backend. The candidates of a name wait in one queue, and the first of them leads. */
export interface Elections {
  /**
   * Resolves when the candidate leads. Resolves to `null` when `request.wait` is false and another candidate leads.
   * @throws `request.signal.reason` once aborted, LockUnavailableError, LockConfigurationError
   */
  campaign(request: CampaignRequest): Promise<WonElection | null>;
  /**
   * @param name what the application calls the key, for errors; default: the key
   * @throws `signal.reason`, LockUnavailableError, LockConfigurationError
   */
  look(key: string, signal: AbortSignal, name?: string): Promise<Sighting>;
}

/**
 * The leader that the servers knew a moment ago. The leader may not know yet that it leads, or may already consider its
 * leadership lost.
 */
export interface Leader {
  /** The participant's id, as other kinds of clients see it too: its label, or `host:pid`. */
  readonly id: string;
  /** The leader's owner, as far as it is known. For other kinds of clients nothing is known. */
  readonly owner: ContenderOwner;
  /** The proclaimed value; `undefined` when the leader proclaims nothing. */
  readonly value: string | undefined;
  /**
   * The start of the leadership, by the leader's own clock. For other kinds of clients, the time since which it has
   * been in the queue.
   */
  readonly since: Date;
  /** The fencing token of the leader's term. */
  readonly fencingToken: bigint;
  /** Whether it belongs to this application's connection. */
  readonly isOwn: boolean;
}

/**
 * The lease of an election's leader. It lasts until it is resigned, or its session is lost. `release()`, and the end of
 * `await using`, resign it.
 */
export interface Term extends Lease {
  /** The election's name. */
  readonly key: string;
  /**
   * Publishes a value of up to 64 kB to all observers of the election, until the term ends or another value is
   * proclaimed.
   * @throws LockLostError when the term is over, LockUnavailableError, LockConfigurationError if the value is not such
   *   a string
   */
  proclaim(value: string): Promise<void>;
  /** Resigns. Idempotent, never rejects. See `LeaderElectionService.resign` for the effect on `@LeaderOnly` runs. */
  resign(): Promise<void>;
}

const LONGEST_VALUE_BYTES = 64 * 1_024;

/** @throws LockConfigurationError for a value that cannot be proclaimed */
export function checkProclaimed(value: unknown): asserts value is string {
  const isValue = typeof value === 'string' && Buffer.byteLength(value) <= LONGEST_VALUE_BYTES;
  check(isValue, 'value', value, 'a string of at most 64 kB');
}
