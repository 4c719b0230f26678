import { LockUnavailableError } from '../../contract/errors.js';

/** The error of a request whose answer was lost, and whose result others may have changed since. */
export function unknownResult(key: string, what: string): LockUnavailableError {
  const why = `the connection to etcd was lost; whether ${what} is not known`;
  return new LockUnavailableError(`"${key}": ${why}`, { key });
}
