import { check } from './check.js';
import type { ContenderOwner } from './contender.js';
import type { GrantedLease } from './granted-lease.js';
import type { Lease } from './lease.js';
import type { LockRequest } from './lock-request.js';

/** One candidature, as a backend sees it. */
export interface CampaignRequest extends LockRequest {
  /** What the candidate proclaims when it is elected. */
  readonly value?: string | undefined;
}

/** An election that was won. */
export interface WonElection {
  /** The leadership: given back, the next candidate leads. */
  readonly lease: GrantedLease;
  /** Tells the value to whoever looks for the leader. @throws LockLostError, LockUnavailableError, LockConfigurationError */
  readonly proclaim: (value: string) => Promise<void>;
}

/** What was seen of an election at one moment. */
export interface Sighting {
  readonly leader: Leader | null;
  /**
   * Resolves when that may not be so any more: a hint to look again. Rejects with `signal.reason`, leaving no watch; with
   * LockUnavailableError or LockConfigurationError when it can not be known.
   */
  readonly changed: (signal: AbortSignal) => Promise<void>;
}

/** Who holds elections. The candidates of a name stand in one line, and the first of them leads. */
export interface Elections {
  /**
   * Resolves once the candidate leads, or to `null` when `request.wait` is false and somebody else does.
   * @throws `request.signal.reason` once aborted, LockUnavailableError, LockConfigurationError
   */
  campaign(request: CampaignRequest): Promise<WonElection | null>;
  /**
   * @param name what the application calls the key, for errors; default: the key
   * @throws `signal.reason`, LockUnavailableError, LockConfigurationError
   */
  look(key: string, signal: AbortSignal, name?: string): Promise<Sighting>;
}

/** Who leads, as the servers had it a moment ago. The leader itself may not know it yet, or not know any more that it does. */
export interface Leader {
  /** The participant's id, as clients of other kinds see it too: its label, or `host:pid`. */
  readonly id: string;
  /** Who it is, as far as is known; of clients of other kinds nothing is. */
  readonly owner: ContenderOwner;
  /** What it proclaims; `undefined` when it proclaims nothing. */
  readonly value: string | undefined;
  /** Since when it leads, by its own clock; of clients of other kinds, since when it stands in line. */
  readonly since: Date;
  /** That of its term. */
  readonly fencingToken: bigint;
  /** Whether it belongs to this application's connection. */
  readonly isOwn: boolean;
}

/**
 * What the leader of an election holds: a lease on the leadership. Lasts until it is resigned, or its session is lost.
 * `release()`, and the end of `await using`, resign it.
 */
export interface Term extends Lease {
  /** The election's name. */
  readonly key: string;
  /**
   * Tells a value of up to 64 kB to whoever asks for the leader, until the term ends or another one is proclaimed.
   * @throws LockLostError when the term is over, LockUnavailableError, LockConfigurationError for what is no such value
   */
  proclaim(value: string): Promise<void>;
  /** Steps down. Idempotent, never rejects; see `LeaderElectionService.resign` for what becomes of `@LeaderOnly` runs. */
  resign(): Promise<void>;
}

const LONGEST_VALUE_BYTES = 64 * 1_024;

/** @throws LockConfigurationError for what can not be proclaimed */
export function checkProclaimed(value: unknown): asserts value is string {
  const isValue = typeof value === 'string' && Buffer.byteLength(value) <= LONGEST_VALUE_BYTES;
  check(isValue, 'value', value, 'a string of at most 64 kB');
}
