import { isKeeperError } from '../session/requests.js';

/** For a request about a znode that may not be there: what stands for its answer then. */
export function noneWithout<T>(none: T): (error: unknown) => T {
  return (error) => {
    if (isKeeperError(error, 'noNode')) return none;
    throw error;
  };
}
