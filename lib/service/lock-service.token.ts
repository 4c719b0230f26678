import { connectionIn, connectionToken, DEFAULT_CONNECTION } from './connection-token.js';
import { LockService } from './lock.service.js';

export { DEFAULT_CONNECTION };

/**
 * Returns the injection token of the `LockService` of a connection: the class itself for the default connection. For
 * the others it is a symbol that is the same for the same name.
 */
export function getLockServiceToken(name: string = DEFAULT_CONNECTION): typeof LockService | symbol {
  return name === DEFAULT_CONNECTION ? LockService : connectionToken('LockService', name);
}

/** Returns the name behind a token, or `undefined` when it is not a token of `getLockServiceToken`. */
export function connectionOf(token: unknown): string | undefined {
  return token === LockService ? DEFAULT_CONNECTION : connectionIn(token, 'LockService');
}
