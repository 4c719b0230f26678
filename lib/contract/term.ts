import { check } from './check.js';
import type { Lease } from './lease.js';

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
