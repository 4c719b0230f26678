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

export interface LockErrorDetails {
  /** The key (or keys) the error is about, as the application wrote it. */
  readonly key?: string | undefined;
  readonly cause?: unknown | undefined;
}

/**
 * Base of every error this package throws. Carries the signature of http-errors (`status`, `statusCode`, `expose`):
 * whatever answers a request without `LockExceptionFilter` has the right status, and leaves out the message, which
 * names keys and hosts.
 */
export abstract class LockError extends Error {
  readonly key: string | undefined;
  readonly statusCode: number;
  readonly expose = false;

  protected constructor(
    readonly code: LockErrorCode,
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

/** `LOCK_NOT_LEADER`: `LockNotLeaderError`. Not the name of the class, which bundlers change. */
function nameOf(code: LockErrorCode): string {
  const words = code.split('_').map((word) => word.charAt(0) + word.slice(1).toLowerCase());
  return `${words.join('')}Error`;
}

/**
 * What was waited for did not come within `waitMs`: of a lock, somebody else held the key all the time. HTTP 423.
 * The message names holders of the key where they are known. It is for logs, not for remote clients.
 */
export class LockTimeoutError extends LockError {
  constructor(
    key: string,
    /** How long the caller was ready to wait, in milliseconds. */
    readonly waitMs: number,
    /** What stood in the way. */
    why?: string,
    /** Who held the key a moment before the time ran out, as far as that is known; may be empty. At most 20. */
    readonly holders: readonly Contender[] = [],
  ) {
    super('LOCK_TIMEOUT', 423, `"${key}" ${why ?? lockedBy(holders)} (waited ${waitMs} ms)`, { key });
  }
}

/** What only the leader does was asked of one who does not lead; another instance may. HTTP 503. */
export class LockNotLeaderError extends LockError {
  constructor(name: string) {
    super('LOCK_NOT_LEADER', 503, `this instance does not lead "${name}"`, { key: name });
  }
}

/** The lease ended before it was released: the work done under it may have overlapped with another's. HTTP 503. */
export class LockLostError extends LockError {
  constructor(
    key: string,
    /** What ended the lease. */
    readonly reason: string,
    details: LockErrorDetails = {},
  ) {
    super('LOCK_LOST', 503, `the lease on "${key}" was lost: ${reason}`, { ...details, key });
  }
}

/** The holder was asked to give way. HTTP 503. */
export class LockRevokedError extends LockError {
  constructor(key: string) {
    super('LOCK_REVOKED', 503, `the lease on "${key}" was revoked`, { key });
  }
}

/**
 * The holder has held the key for longer than it was meant to, and is to stop. While the lease is `revoking` the key is
 * still its own; once the lease is `lost` the key may be somebody else's, and calls reject with this error. HTTP 503.
 */
export class LockOverdueError extends LockError {
  constructor(
    key: string,
    /** How long the key was to be held at most, in milliseconds. */
    readonly atMostMs: number,
  ) {
    super('LOCK_OVERDUE', 503, `"${key}" has been held for longer than ${atMostMs} ms`, { key });
  }
}

/** The backend could not be asked: nothing is known about who holds the key. HTTP 503. */
export class LockUnavailableError extends LockError {
  constructor(message: string, details: LockErrorDetails = {}) {
    super('LOCK_UNAVAILABLE', 503, message, details);
  }
}

/** The caller asks for what it already holds in a way that could only wait for itself. HTTP 500. */
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

/** A key, an option or a place of use is wrong; nothing was sent. HTTP 500. */
export class LockConfigurationError extends LockError {
  constructor(message: string, details: LockErrorDetails = {}) {
    super('LOCK_CONFIGURATION', 500, message, details);
  }
}
