import { DEFAULT_CONNECTION } from './lock-service.options.js';
import { LockService } from './lock.service.js';

export { DEFAULT_CONNECTION };

const PREFIX = 'nestjs-distributed-lock:connection:';

/**
 * The injection token of the `LockService` of a connection: the class itself for the default one, a symbol that is
 * the same for the same name for the others.
 */
export function getLockServiceToken(name: string = DEFAULT_CONNECTION): typeof LockService | symbol {
  return name === DEFAULT_CONNECTION ? LockService : Symbol.for(PREFIX + name);
}

/** The name behind a token, or `undefined` when the token is not one of `getLockServiceToken`. */
export function connectionOf(token: unknown): string | undefined {
  if (token === LockService) return DEFAULT_CONNECTION;
  const registered = typeof token === 'symbol' ? Symbol.keyFor(token) : undefined;
  return registered?.startsWith(PREFIX) ? registered.slice(PREFIX.length) : undefined;
}
