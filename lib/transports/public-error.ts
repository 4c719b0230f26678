import { check, checkFields } from '../contract/check.js';
import type { LockError, LockErrorCode } from '../contract/errors.js';

/** Options for the response to a remote client. */
export interface LockExceptionFilterOptions {
  /**
   * Whether the response names the key, as the application wrote it. Default `false`: keys are internal to the service.
   */
  readonly exposeKey?: boolean | undefined;
}

/**
 * The error that a remote client receives. It names neither keys, nor hosts, nor processes, unless the application
 * wants it.
 */
export interface PublicLockError {
  /** The HTTP status. */
  readonly statusCode: number;
  /** The stable code of this kind of error. */
  readonly code: LockErrorCode;
  /** The message for the client. It names neither keys nor hosts: it is the same for all errors of a code. */
  readonly message: string;
  /** Whether the same request may succeed a moment later. Also `false` where its work may have been done in part. */
  readonly retryable: boolean;
  /** Only set with `exposeKey`. */
  readonly key?: string | undefined;
}

const INTERNAL = 'Internal server error';

const MESSAGES: Readonly<Record<LockErrorCode, string>> = {
  LOCK_TIMEOUT: 'The resource is locked',
  LOCK_NOT_LEADER: 'Only the leading instance does this',
  LOCK_LOST: 'The lock was lost while the request was processed',
  LOCK_REVOKED: 'The lock was withdrawn while the request was processed',
  LOCK_OVERDUE: 'The request held its lock for too long',
  LOCK_UNAVAILABLE: 'Locks are not available at the moment',
  LOCK_SHUTDOWN: 'The service is shutting down',
  LOCK_REENTRANCY: INTERNAL,
  LOCK_CONFIGURATION: INTERNAL,
};

const RETRYABLE: ReadonlySet<LockErrorCode> = new Set([
  'LOCK_TIMEOUT',
  'LOCK_NOT_LEADER',
  'LOCK_UNAVAILABLE',
  'LOCK_SHUTDOWN',
]);

/** Returns the error as a remote client may see it. */
export function publicErrorOf(error: LockError, { exposeKey = false }: LockExceptionFilterOptions): PublicLockError {
  const { status, code, key } = error;
  const isNamed = exposeKey && key !== undefined && !isProgrammingError(error);
  const answer = { statusCode: status, code, message: MESSAGES[code], retryable: RETRYABLE.has(code) };
  return isNamed ? { ...answer, key } : answer;
}

/** Whether only a change of the program can remove the error. */
export function isProgrammingError({ code }: LockError): boolean {
  return MESSAGES[code] === INTERNAL;
}

/** @throws LockConfigurationError that names the wrong field, after `field` */
export function checkFilterOptions(field: string, options: LockExceptionFilterOptions): void {
  checkFields(field, options, ['exposeKey']);
  const { exposeKey = false } = options;
  check(typeof exposeKey === 'boolean', `${field}.exposeKey`, exposeKey, 'true or false');
}
