import type { Contender } from './contender.js';
import { lockedBy } from './contender.js';

/** The stable `code` of every error this package throws. */
export type LockErrorCode =
  | 'LOCK_TIMEOUT'
  | 'LOCK_NOT_LEADER'
  | 'LOCK_LOST'
  | 'LOCK_REVOKED'
  | 'LOCK_OVERDUE'
  | 'LOCK_UNAVAILABLE'
  | 'LOCK_REENTRANCY'
  | 'LOCK_SHUTDOWN'
  | 'LOCK_CONFIGURATION';

/** The details of a `LockError`. */
export interface LockErrorDetails {
  /** The key (or keys) the error is about, as the application wrote it. */
  readonly key?: string | undefined;
  /** The error that led to this one. */
  readonly cause?: unknown | undefined;
}

/**
 * Base of every error this package throws. It has the signature of http-errors (`status`, `statusCode`, `expose`). So a
 * framework without `LockExceptionFilter` answers with the right status, and omits the message, which names keys and
 * hosts.
 */
export abstract class LockError extends Error {
  /** The key (or keys) the error is about, as the application wrote it; `undefined` where it is about no key. */
  readonly key: string | undefined;
  /** The HTTP status, the same as `status`. */
  readonly statusCode: number;
  /** Whether a framework may send the message to a remote client. Always `false`. */
  readonly expose = false;

  protected constructor(
    /** The stable code of this kind of error. */
    readonly code: LockErrorCode,
    /** The HTTP status. */
    readonly status: number,
    message: string,
    details: LockErrorDetails = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = nameOf(code);
    this.key = details.key;
    this.statusCode = status;
  }
}

/** Maps `LOCK_NOT_LEADER` to `LockNotLeaderError`. The class name is not used, because bundlers change it. */
function nameOf(code: LockErrorCode): string {
  const words = code.split('_').map((word) => word.charAt(0) + word.slice(1).toLowerCase());
  return `${words.join('')}Error`;
}

/**
 * The wait did not succeed within `waitMs`. For a lock, another holder had the key all the time. HTTP 423. The message
 * names holders of the key where they are known. It is for logs, not for remote clients.
 */
export class LockTimeoutError extends LockError {
  constructor(
    key: string,
    /** The maximum wait of the caller, in milliseconds. */
    readonly waitMs: number,
    /** The reason that the wait did not succeed. */
    why?: string,
    /** The holders of the key a moment before the time-out, as far as they are known. May be empty. At most 20. */
    readonly holders: readonly Contender[] = [],
  ) {
    super('LOCK_TIMEOUT', 423, `"${key}" ${why ?? lockedBy(holders)} (waited ${waitMs} ms)`, { key });
  }
}

/**
 * An operation that only the leader may do was called on an instance that does not lead. Another instance may lead.
 * HTTP 503.
 */
export class LockNotLeaderError extends LockError {
  constructor(name: string) {
    super('LOCK_NOT_LEADER', 503, `this instance does not lead "${name}"`, { key: name });
  }
}

/**
 * The lease ended before it was released. The work done under it may have overlapped with the work of another holder.
 * HTTP 503.
 */
export class LockLostError extends LockError {
  constructor(
    key: string,
    /** The cause that ended the lease. */
    readonly reason: string,
    details: LockErrorDetails = {},
  ) {
    super('LOCK_LOST', 503, `the lease on "${key}" was lost: ${reason}`, { ...details, key });
  }
}

/** The holder was asked to release the key. HTTP 503. */
export class LockRevokedError extends LockError {
  constructor(key: string) {
    super('LOCK_REVOKED', 503, `the lease on "${key}" was revoked`, { key });
  }
}

/**
 * The holder has held the key for longer than its limit, and must stop. While the lease is `revoking`, it still has the
 * key. Once the lease is `lost`, another holder may have the key, and calls reject with this error. HTTP 503.
 */
export class LockOverdueError extends LockError {
  constructor(
    key: string,
    /** The maximum time to hold the key, in milliseconds. */
    readonly atMostMs: number,
  ) {
    super('LOCK_OVERDUE', 503, `"${key}" has been held for longer than ${atMostMs} ms`, { key });
  }
}

/** The backend could not be reached. It is not known who holds the key. HTTP 503. */
export class LockUnavailableError extends LockError {
  constructor(message: string, details: LockErrorDetails = {}) {
    super('LOCK_UNAVAILABLE', 503, message, details);
  }
}

/** The caller requests a key that it already holds, in a way that could only wait for itself. HTTP 500. */
export class LockReentrancyError extends LockError {
  constructor(key: string, why: string) {
    super('LOCK_REENTRANCY', 500, `"${key}" is already held by this call: ${why}`, { key });
  }
}

/** The application is shutting down and no longer waits for locks. HTTP 503. */
export class LockShutdownError extends LockError {
  constructor(key?: string) {
    super('LOCK_SHUTDOWN', 503, `${key === undefined ? 'locks' : `"${key}"`}: the application is shutting down`, {
      key,
    });
  }
}

/** A key, an option or a place of use is invalid. Nothing was sent. HTTP 500. */
export class LockConfigurationError extends LockError {
  constructor(message: string, details: LockErrorDetails = {}) {
    super('LOCK_CONFIGURATION', 500, message, details);
  }
}
