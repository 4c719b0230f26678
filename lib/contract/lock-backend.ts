import type { BackendGuarantees } from './backend-guarantees.js';
import type { Contender } from './contender.js';
import type { CoordinationBackend } from './coordination-backend.js';
import type { Elections } from './elections.js';
import type { GrantedLease } from './granted-lease.js';
import type { LockRequest } from './lock-request.js';
import type { PermitCounts } from './semaphore.options.js';
import type { RecordStore } from './record-store.js';
import type { ResolvedRevokeOptions } from './revoke.options.js';
import type { BackendVitals, SessionChange, Survey, SurveyQuestion } from './survey.js';

/**
 * The states of a backend:
 * - `connected`: it answers.
 * - `suspended`: it is out of reach, but no lease is lost yet.
 * - `lost`: its leases are lost.
 */
export type BackendState = 'connected' | 'suspended' | 'lost';

/** A question about the holders of a key. */
export interface HoldersQuestion {
  /** The key. */
  readonly key: string;
  /** The kind of holders: holders of permits of the key, or of the key itself. */
  readonly of: 'permits' | 'key';
  /** The maximum number of holders in the answer. The answer should not cost more requests than they need. */
  readonly most: number;
  /** Aborts the question. */
  readonly signal: AbortSignal;
}

/** Logs events of a connection, such as a lost session. One log entry for each change, not for each retry. */
export interface ConnectionLog {
  /** Logs an event that needs no attention. */
  log(message: string): void;
  /** Logs an event that needs attention. */
  warn(message: string): void;
}

/** Grants leases. Each implementation has its own folder, and none imports another. */
export interface LockBackend {
  /** The name of the backend, for messages. */
  readonly name: string;
  /** The state of the connection. */
  readonly state: BackendState;
  /** The promises in which backends differ, for people who operate them. Logged when the backend has connected. */
  readonly guarantees?: BackendGuarantees;
  /** The records of the backend. */
  readonly records: RecordStore;
  /**
   * Time that the keys of a process stay locked when it ends without `close()`, in milliseconds. Without it, they do
   * not stay locked.
   */
  readonly lockedAfterDeathMs?: number;
  /** The number of permits of semaphores. A backend without it has no semaphores. */
  readonly permitCounts?: PermitCounts;
  /** Queues, barriers and shared values. A backend without it has none. */
  readonly coordination?: CoordinationBackend;
  /** Elections. Without it, this backend supports no campaigns. */
  readonly elections?: Elections;
  /**
   * Returns the identity of a key. Two keys with the same identity are the same lock.
   * @throws LockConfigurationError
   */
  identify(key: string): string;
  /** Resolves when the backend has answered for the first time. @throws LockUnavailableError after its own deadline */
  connect(): Promise<void>;
  /**
   * Grants the lease. Returns `null` when `request.wait` is false and another contender is ahead.
   * @throws `request.signal.reason` once aborted, LockUnavailableError, LockConfigurationError
   */
  acquire(request: LockRequest): Promise<GrantedLease | null>;
  /**
   * Grants all the keys of these requests or none of them, as `acquire` does, and queues for all of them in one step.
   * So of two such sets, one is ahead of the other on every key that both want. A backend without it has no atomic
   * multi-lock.
   */
  acquireAll?(requests: readonly LockRequest[]): Promise<readonly GrantedLease[] | null>;
  /**
   * Returns the holders of the key and the waiting contenders, in order, as of a moment ago.
   * @throws LockUnavailableError
   */
  lineOf(key: string): Promise<readonly Contender[]>;
  /**
   * Returns the contenders of `lineOf` that hold, the earliest first. Called when waits time out, so it must be cheap
   * even with thousands of waiting contenders. Without it, `lineOf` is called.
   */
  holdersOf?(question: HoldersQuestion): Promise<readonly Contender[]>;
  /**
   * Returns what is held and waited for, as of a moment ago, within the bounds of the question. It takes no lock, and
   * leaves no watch. A backend without it has no overview.
   * @throws `question.signal.reason`, LockUnavailableError
   */
  survey?(question: SurveyQuestion): Promise<Survey>;
  /** Returns the state of the connection in numbers. Asks no server. */
  vitals?(): BackendVitals;
  /** Calls `listener` once for each change of the connection's state from now on. There is one such listener. */
  observe?(listener: (change: SessionChange) => void): void;
  /** Sets the log for connection events that concern an operator. */
  logTo?(log: ConnectionLog): void;
  /**
   * Asks all holders of the key to release it, and removes those that have not done so after the grace period. Resolves
   * when they are gone; at once when the key is not held. A backend without it cannot revoke.
   * @throws `options.signal.reason`, LockUnavailableError
   */
  revoke?(key: string, options: ResolvedRevokeOptions): Promise<void>;
  /**
   * Returns a better error for a caller whose wait ended for `reason`, if the backend has one. Without it, `reason` is
   * used.
   */
  explain?(reason: unknown): unknown;
  /** Releases everything this backend holds and cancels all its waits. Never rejects. */
  close(): Promise<void>;
}

/** A validated definition of a backend. Every application that uses it gets a backend of its own. */
export interface LockBackendDefinition {
  /** The name of the backend, for messages. */
  readonly name: string;
  /** Creates a backend of its own for one application. */
  create(): LockBackend;
}
