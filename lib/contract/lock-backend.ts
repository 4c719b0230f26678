import type { Contender } from './contender.js';
import type { Elections } from './elections.js';
import type { GrantedLease } from './granted-lease.js';
import type { LockRequest } from './lock-request.js';
import type { RecordStore } from './record-store.js';

/** What may be assumed of a backend: it answers; it is out of reach but nothing is lost yet; its leases are lost. */
export type BackendState = 'connected' | 'suspended' | 'lost';

/** Who grants leases. Implementations live in folders of their own and never see each other. */
export interface LockBackend {
  readonly name: string;
  readonly state: BackendState;
  readonly records: RecordStore;
  /** Without it, nobody can campaign on this backend. */
  readonly elections?: Elections;
  /** The identity behind a key: two keys with the same identity are the same lock. @throws LockConfigurationError */
  identify(key: string): string;
  /** Resolves when the backend has answered for the first time. @throws LockUnavailableError after its own deadline */
  connect(): Promise<void>;
  /**
   * Grants the lease, or `null` when `request.wait` is false and somebody is ahead.
   * @throws `request.signal.reason` once aborted, LockUnavailableError, LockConfigurationError
   */
  acquire(request: LockRequest): Promise<GrantedLease | null>;
  /** Who holds the key and who waits for it, in order, as it was a moment ago. @throws LockUnavailableError */
  lineOf(key: string): Promise<readonly Contender[]>;
  /** What to tell a caller whose wait ended for `reason`, when the backend knows better; without it, that reason. */
  explain?(reason: unknown): unknown;
  /** Gives up everything this backend holds and waits for. Never rejects. */
  close(): Promise<void>;
}

/** A validated recipe for a backend; every application that uses it gets a backend of its own. */
export interface LockBackendDefinition {
  readonly name: string;
  create(): LockBackend;
}
