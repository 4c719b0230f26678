import type { Contender } from './contender.js';
import type { CoordinationBackend } from './coordination-backend.js';
import type { Elections } from './elections.js';
import type { GrantedLease } from './granted-lease.js';
import type { LockRequest } from './lock-request.js';
import type { PermitCounts } from './semaphore.options.js';
import type { RecordStore } from './record-store.js';
import type { ResolvedRevokeOptions } from './revoke.options.js';

/** What may be assumed of a backend: it answers; it is out of reach but nothing is lost yet; its leases are lost. */
export type BackendState = 'connected' | 'suspended' | 'lost';

/** Whose leases are asked about, and how long the answer may take. */
export interface HoldersQuestion {
  readonly key: string;
  /** Holders of permits of the key, or of the key itself. */
  readonly of: 'permits' | 'key';
  /** The answer need not have more of them than this, and should not cost more requests than they take. */
  readonly most: number;
  /** Ends the question. */
  readonly signal: AbortSignal;
}

/** Takes lines about a connection, such as a lost session. One line for each change, not for each retry. */
export interface ConnectionLog {
  /** What is as it should be. */
  log(message: string): void;
  warn(message: string): void;
}

/** Who grants leases. Implementations live in folders of their own and never see each other. */
export interface LockBackend {
  readonly name: string;
  readonly state: BackendState;
  readonly records: RecordStore;
  /**
   * For how long the keys of a process that ends without `close()` stay locked, in milliseconds. Without it, they do not.
   */
  readonly lockedAfterDeathMs?: number;
  /**
   * `true` where nobody looks at a request's signal, or at one that was made of it, once a lease was granted: it serves
   * another request then. On Node 20 to make a signal costs a process more than most of what an acquisition does.
   */
  readonly releasesSignals?: boolean;
  /** How many permits semaphores have; a backend without it has no semaphores. */
  readonly permitCounts?: PermitCounts;
  /** Queues, barriers and shared values; without it, this backend has none. */
  readonly coordination?: CoordinationBackend;
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
  /**
   * Grants all the keys of these requests or none of them, as `acquire` does, and lets them line up in one step: of two
   * such sets one is before the other on every key that both want. Without it, there is no atomic form.
   */
  acquireAll?(requests: readonly LockRequest[]): Promise<readonly GrantedLease[] | null>;
  /** Who holds the key and who waits for it, in order, as it was a moment ago. @throws LockUnavailableError */
  lineOf(key: string): Promise<readonly Contender[]>;
  /**
   * The contenders of `lineOf` that hold, those that came first. It is asked when waits run out: it must cost little also
   * where thousands wait. Without it, `lineOf` is asked.
   */
  holdersOf?(question: HoldersQuestion): Promise<readonly Contender[]>;
  /** Is told where to say what an operator should know of the connection. */
  logTo?(log: ConnectionLog): void;
  /**
   * Asks all who hold the key to give way, and takes it away from those who have not after the grace. Resolves when they
   * are gone; at once when nobody holds. A backend without it can not. @throws `options.signal.reason`, LockUnavailableError
   */
  revoke?(key: string, options: ResolvedRevokeOptions): Promise<void>;
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
