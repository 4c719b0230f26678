import { check, checkFields } from '../contract/check.js';
import type { LockError, LockErrorCode } from '../contract/errors.js';

/** What the answer to a remote client has beyond the usual. */
export interface LockExceptionFilterOptions {
  /** Whether the answer names the key, as the application wrote it. Default `false`: keys are the service's own. */
  readonly exposeKey?: boolean | undefined;
}

/** What a remote client is told: neither keys, nor hosts, nor processes, unless the application wants it. */
export interface PublicLockError {
  readonly statusCode: number;
  readonly code: LockErrorCode;
  readonly message: string;
  /** Whether the same request may succeed a moment later. `false` also where its work may have been done in part. */
  readonly retryable: boolean;
  /** Only with `exposeKey`. */
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

/** The error as a remote client may see it. */
export function publicErrorOf(error: LockError, { exposeKey = false }: LockExceptionFilterOptions): PublicLockError {
  const { status, code, key } = error;
  const isNamed = exposeKey && key !== undefined && !isProgrammingError(error);
  const answer = { statusCode: status, code, message: MESSAGES[code], retryable: RETRYABLE.has(code) };
  return isNamed ? { ...answer, key } : answer;
}

/** An error that only a change of the program makes go away. */
export function isProgrammingError({ code }: LockError): boolean {
  return MESSAGES[code] === INTERNAL;
}

/** @throws LockConfigurationError that names the wrong field, after `field` */
export function checkFilterOptions(field: string, options: LockExceptionFilterOptions): void {
  checkFields(field, options, ['exposeKey']);
  const { exposeKey = false } = options;
  check(typeof exposeKey === 'boolean', `${field}.exposeKey`, exposeKey, 'true or false');
}
