import { LockConfigurationError, LockTimeoutError, LockUnavailableError } from '../contract/errors.js';
import { CounterStuckError } from './recipes/counter.js';
import { isKeeperError, KeeperError, RequestTooLargeError } from './session/requests.js';

/** A refusal, of the servers or before them, as the error that tells the caller what to do; any other error as it is. */
export function explained(error: unknown, key: string): unknown {
  const details = { key, cause: error };
  if (error instanceof RequestTooLargeError) return new LockConfigurationError(`"${key}": ${error.message}`, details);
  if (error instanceof CounterStuckError) return new LockUnavailableError(`"${key}": ${error.message}`, details);
  if (!(error instanceof KeeperError)) return error;
  const isRefused = isKeeperError(error, 'noAuth') || isKeeperError(error, 'invalidAcl');
  const message = `"${key}": ${error.message}`;
  if (isKeeperError(error, 'noChildrenForEphemerals')) {
    const why = 'it lies below an ephemeral znode, which has no children; use another key';
    return new LockConfigurationError(`${message}; ${why}`, details);
  }
  return isRefused
    ? new LockConfigurationError(`${message}; check the auth and acl options of zookeeper()`, details)
    : new LockUnavailableError(message, details);
}

/** The same of what was sent and may have been done: servers that do not answer leave that open, and the error says so. */
export function inDoubt(error: unknown, what: string, key: string): unknown {
  const isTimeout = error instanceof LockTimeoutError;
  if (!isTimeout && !(error instanceof LockUnavailableError)) return error;
  const why = isTimeout ? `the servers had not answered after ${error.waitMs} ms` : error.message;
  return new LockUnavailableError(`${why}; ${what} is not known`, { key, cause: error });
}
