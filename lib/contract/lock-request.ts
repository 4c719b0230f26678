import { LockConfigurationError, LockError, LockShutdownError, LockUnavailableError } from './errors.js';
import type { GrantedLease } from './granted-lease.js';
import type { LeaseMode } from './lease.js';

/**
 * The waiting modes of contenders:
 * - `fifo`: in a queue, first come first served.
 * - `none`: not at all. A contender that is not first is refused.
 */
export type Line = 'fifo' | 'none';

/** The number of permits of a semaphore. */
export interface SemaphoreSize {
  /** The number while no other number is recorded. */
  readonly permits: number;
  /** The key of the record. Without it, the backend's own record beside the semaphore. */
  readonly sharedCount?: string | undefined;
}

/** A number of permits that is requested, and the size of the semaphore. */
export interface PermitDemand {
  /** The number of permits that are requested. */
  readonly count: number;
  /** The size of the semaphore. */
  readonly of: SemaphoreSize;
}

/** One acquisition, as a backend sees it. The deadline is already part of `signal`. */
export interface LockRequest extends KeyedRequest {
  /** `'permit'` is sent only to backends that have `permitCounts`, and comes with `permits`. */
  readonly mode: LeaseMode;
  /** The permits that are requested. Only with mode `'permit'`. */
  readonly permits?: PermitDemand | undefined;
  /** The waiting mode. */
  readonly line: Line;
  /** `false`: reply `null` at once if another contender is ahead. */
  readonly wait: boolean;
  /** Ends the wait: the backend leaves the queue, then rejects with `signal.reason`. */
  readonly signal: AbortSignal;
  /** The caller's label, for logs and tools. */
  readonly label?: string | undefined;
  /** Whether the lease may stay warm for a while after its last use, see `keepMs`. */
  readonly keeps?: boolean | undefined;
}

/** The lock that a caller requests from its own process. */
export interface LocalTarget extends Pick<LockRequest, 'key' | 'mode' | 'permits' | 'line'> {
  /** The key that is passed to the backend. Default: `key`. */
  readonly at?: string | undefined;
  /** The identity of the key, as the backend defines it. */
  readonly identity: string;
  /**
   * Time that the process may keep the key warm after its release while no other process requests it, in milliseconds.
   */
  readonly keepMs: number;
}

/**
 * The listener for a caller that gives up. An interface, because a function for each caller would cost memory: there
 * are many callers.
 */
export interface GivingUpListener {
  gaveUp(reason: unknown): void;
}

/**
 * One caller's acquisition. It is notified of its end without a signal: signals are expensive, and there are many
 * callers.
 */
export interface CallerRequest extends Pick<LockRequest, 'wait' | 'signal' | 'label'> {
  readonly target: LocalTarget;
  /** The reason that the caller gave up; `undefined` if it has not. */
  readonly givenUp: { readonly reason: unknown } | undefined;
  /** Called once, when the caller gives up. */
  onGivenUp: GivingUpListener | undefined;
  /**
   * Called once, right before the caller's promise settles: with the lease, or with the error that the caller gets. With
   * neither if none was granted this time.
   */
  settled(lease?: GrantedLease, error?: unknown): void;
}

/** Returns the error of a failed acquisition, with its key. The caller's own abort reason is not changed. */
export function failureOf({ target, givenUp }: Pick<CallerRequest, 'target' | 'givenUp'>, error: unknown): unknown {
  return givenUp && givenUp.reason === error ? error : withKey(error, target.key);
}

/** Returns the request for a backend: a plain object that the backend may copy, with a signal. */
export function requestOf(caller: CallerRequest, signal = caller.signal): LockRequest {
  const { target, wait, label } = caller;
  const { key: name, at: key = name, mode, permits, line, keepMs } = target;
  return { key, name, mode, permits, line, wait, label, keeps: keepMs > 0, signal };
}

/** A request to a backend about one key. */
export interface KeyedRequest {
  /** The key. */
  readonly key: string;
  /** The key as the application wrote it, because a service's own keys have a prefix. Default: `key`. */
  readonly name?: string | undefined;
}

/** Returns the key's name for leases and errors. */
export function nameOf({ key, name = key }: KeyedRequest): string {
  return name;
}

/**
 * Returns the error with the key of the acquisition that it ended. An error that concerns the whole connection has no
 * key of its own.
 */
function withKey(error: unknown, key: string): unknown {
  if (!(error instanceof LockError) || error.key !== undefined) return error;
  const details = { key, cause: error.cause };
  const message = `"${key}": ${error.message}`;
  if (error instanceof LockUnavailableError) return new LockUnavailableError(message, details);
  if (error instanceof LockConfigurationError) return new LockConfigurationError(message, details);
  return error instanceof LockShutdownError ? new LockShutdownError(key) : error;
}
