import { connectionIn, connectionToken, DEFAULT_CONNECTION } from './connection-token.js';
import { LockService } from './lock.service.js';

export { DEFAULT_CONNECTION };

/**
 * The injection token of the `LockService` of a connection: the class itself for the default one, a symbol that is
 * the same for the same name for the others.
 */
export function getLockServiceToken(name: string = DEFAULT_CONNECTION): typeof LockService | symbol {
  return name === DEFAULT_CONNECTION ? LockService : connectionToken('LockService', name);
}

/** The name behind a token, or `undefined` when the token is not one of `getLockServiceToken`. */
export function connectionOf(token: unknown): string | undefined {
  return token === LockService ? DEFAULT_CONNECTION : connectionIn(token, 'LockService');
}
