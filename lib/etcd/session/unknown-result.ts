import { LockUnavailableError } from '../../contract/errors.js';
import { RefusedError } from '../client/etcd-error.js';

/**
 * The error of a request whose result others may have changed since.
 * @param refusal the answer, see `isUndecided`; default: it was lost
 */
export function unknownResult(key: string, what: string, refusal?: RefusedError): LockUnavailableError {
  const why = refusal ? `etcd refused: ${refusal.message}` : 'the connection to etcd was lost';
  return new LockUnavailableError(`"${key}": ${why}; whether ${what} is not known`, { key, cause: refusal });
}

/** Whether an error is a refusal that leaves open whether the change was applied: of a server whose database is full. */
export function isUndecided(error: unknown): error is RefusedError {
  return error instanceof RefusedError && error.message.includes('database space exceeded');
}
