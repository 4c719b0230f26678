import type { GrantedLease } from './granted-lease.js';
import type { Leader } from './leader.js';
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
