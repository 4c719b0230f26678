import { LockConfigurationError, LockError, LockShutdownError, LockUnavailableError } from './errors.js';

/** The error, with the key of the acquisition that it ended: what concerns the whole connection comes without one. */
export function withKey(error: unknown, key: string): unknown {
  if (!(error instanceof LockError) || error.key !== undefined) return error;
  const details = { key, cause: error.cause };
  const message = `"${key}": ${error.message}`;
  if (error instanceof LockUnavailableError) return new LockUnavailableError(message, details);
  if (error instanceof LockConfigurationError) return new LockConfigurationError(message, details);
  return error instanceof LockShutdownError ? new LockShutdownError(key) : error;
}
