import type { GrantedLease } from './granted-lease.js';
import type { KeyedRequest } from './keyed-request.js';

/** What one wait at a barrier asks of a backend. */
export interface PassRequest extends KeyedRequest {
  /** `false`: answer at once when the barrier is up. */
  readonly wait: boolean;
  readonly signal: AbortSignal;
}

/** What one who wants in asks of a backend. */
export interface EnterRequest extends KeyedRequest {
  /** How many enter together. */
  readonly count: number;
  readonly signal: AbortSignal;
  readonly label?: string | undefined;
}

/** One who has entered a double barrier. */
export interface EnteredMember {
  /** Stands while the others know this one to be in. Releasing it goes out without waiting for anybody. */
  readonly lease: GrantedLease;
  /**
   * Goes out, and resolves when all who were in with this one have gone. Whatever ends it, this one is out.
   * @throws LockLostError when it was out before, because its session was over; `signal.reason`
   */
  leave(signal: AbortSignal): Promise<void>;
}

/**
 * Barriers by key, up or down, and double barriers, which a number of members enter together and leave together.
 * `name` is what the application calls the key, for errors; default: the key.
 * Every call throws LockUnavailableError, LockConfigurationError and, once aborted, `signal.reason`.
 */
export interface Barriers {
  raise(key: string, signal: AbortSignal, name?: string): Promise<void>;
  lift(key: string, signal: AbortSignal, name?: string): Promise<void>;
  /** Resolves to whether the barrier is down: with `wait` only once it is. */
  pass(request: PassRequest): Promise<boolean>;
  /**
   * Resolves when `count` members are in, none of whom had given up by then. Whoever gives up is out before its promise
   * rejects; when it turns out to have been counted in before that, the promise resolves.
   */
  enter(request: EnterRequest): Promise<EnteredMember>;
}
