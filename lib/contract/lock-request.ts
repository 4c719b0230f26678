import { LockConfigurationError, LockError, LockShutdownError, LockUnavailableError } from './errors.js';
import type { GrantedLease } from './granted-lease.js';
import type { LeaseMode } from './lease.js';

/** How contenders wait: in a queue, first come first served, or not at all: a contender that is not first is refused. */
export type Line = 'fifo' | 'none';

/** How many permits a semaphore has. */
export interface SemaphoreSize {
  /** As long as nobody has recorded another number. */
  readonly permits: number;
  /** The key of the record; without it, the backend's own beside the semaphore. */
  readonly sharedCount?: string | undefined;
}

/** How many permits are asked for, and of what. */
export interface PermitDemand {
  readonly count: number;
  readonly of: SemaphoreSize;
}

/** One acquisition, as a backend sees it. The deadline is already part of `signal`. */
export interface LockRequest extends KeyedRequest {
  /** `'permit'` is asked only of backends that have `permitCounts`, and comes with `permits`. */
  readonly mode: LeaseMode;
  readonly permits?: PermitDemand | undefined;
  readonly line: Line;
  /** `false`: answer `null` at once when somebody is ahead. */
  readonly wait: boolean;
  /** Ends the wait: the backend leaves the line, then rejects with `signal.reason`. */
  readonly signal: AbortSignal;
  readonly label?: string | undefined;
  /** Whether the lease may be kept for a while after its last use, see `keepMs`. */
  readonly keeps?: boolean | undefined;
}

/** What a caller wants of the process that it runs in. */
export interface LocalTarget extends Pick<LockRequest, 'key' | 'mode'> {
  /** What the backend calls the key. */
  readonly identity: string;
  /** For how long the caller's process may keep the key for itself after the release while nobody else asks, in ms. */
  readonly keepMs: number;
}

/** Who is told that a caller gives up. Not a function: callers are many, and each would have one of its own. */
export interface GivingUpListener {
  gaveUp(reason: unknown): void;
}

/** One caller's acquisition: it can be told of its end without a signal, because signals cost, and callers are many. */
export interface CallerRequest extends LockRequest, LocalTarget {
  /** The key that a backend is asked for. Default: `key`. */
  readonly at?: string | undefined;
  /** Why the caller has given up, if it has. */
  readonly givenUp: { readonly reason: unknown } | undefined;
  /** Calls back once, when the caller gives up. There is one such listener. */
  onGivenUp(listener: GivingUpListener): void;
  /** Told once, right before the caller is: with a lease, or with nothing when there is none. */
  settled(lease?: GrantedLease): void;
}

/** Why a caller's acquisition has failed, with its key; the reason that the caller gave up for stays as it is. */
export function failureOf({ key, givenUp }: Pick<CallerRequest, 'key' | 'givenUp'>, error: unknown): unknown {
  return givenUp && givenUp.reason === error ? error : withKey(error, key);
}

/** What a backend is asked: a plain object that it may copy, with a signal. */
export function requestOf(caller: CallerRequest, signal = caller.signal): LockRequest {
  const { key: name, at: key = name, mode, permits, line, wait, label, keeps } = caller;
  return { key, name, mode, permits, line, wait, label, keeps, signal };
}

/** What a backend is asked by key. */
export interface KeyedRequest {
  readonly key: string;
  /** The key as the application wrote it: a service's own keys are more than that. Default: `key`. */
  readonly name?: string | undefined;
}

/** What leases and errors call the key. */
export function nameOf({ key, name = key }: KeyedRequest): string {
  return name;
}

/** The error, with the key of the acquisition that it ended: what concerns the whole connection comes without one. */
function withKey(error: unknown, key: string): unknown {
  if (!(error instanceof LockError) || error.key !== undefined) return error;
  const details = { key, cause: error.cause };
  const message = `"${key}": ${error.message}`;
  if (error instanceof LockUnavailableError) return new LockUnavailableError(message, details);
  if (error instanceof LockConfigurationError) return new LockConfigurationError(message, details);
  return error instanceof LockShutdownError ? new LockShutdownError(key) : error;
}
