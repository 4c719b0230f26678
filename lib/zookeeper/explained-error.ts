import { LockConfigurationError, LockUnavailableError } from '../contract/errors.js';
import { isKeeperError, KeeperError } from './session/requests.js';

/** A refusal of the servers as the error that tells the caller what to do; any other error as it is. */
export function explained(error: unknown, key: string): unknown {
  if (!(error instanceof KeeperError)) return error;
  const details = { key, cause: error };
  const isRefused = isKeeperError(error, 'noAuth') || isKeeperError(error, 'invalidAcl');
  const message = `"${key}": ${error.message}`;
  return isRefused
    ? new LockConfigurationError(`${message}; check the auth and acl options of zookeeper()`, details)
    : new LockUnavailableError(message, details);
}
