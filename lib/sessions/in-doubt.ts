import { LockTimeoutError, LockUnavailableError } from '../contract/errors.js';

/**
 * Converts the error of a write that was sent and may have been applied. If the servers did not answer, the error says
 * that the result is unknown.
 */
export function inDoubt(error: unknown, what: string, key: string): unknown {
  const isTimeout = error instanceof LockTimeoutError;
  if (!isTimeout && !(error instanceof LockUnavailableError)) return error;
  const why = isTimeout ? `the servers had not answered after ${error.waitMs} ms` : error.message;
  return new LockUnavailableError(`${why}; ${what} is not known`, { key, cause: error });
}
