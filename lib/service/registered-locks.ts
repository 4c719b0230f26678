import type { ModuleRef } from '@nestjs/core';
import { LockConfigurationError } from '../contract/errors.js';
import { registrationOf } from './connection-token.js';
import { connectionOf } from './lock.service.js';
import type { LockService } from './lock.service.js';
import { getLockServiceToken } from './lock-service.token.js';

/**
 * Returns the `LockService` of a connection, in whichever module it is registered.
 * @param what name of the caller, for the message
 * @throws LockConfigurationError when there is no such connection
 */
export function registeredLocks(modules: ModuleRef, connection: string, what: string): LockService {
  try {
    return modules.get<LockService>(getLockServiceToken(connection), { strict: false });
  } catch (cause) {
    throw new LockConfigurationError(
      `${what}: there is no connection "${connection}": import ${registrationOf(connection)} in the root module`,
      { cause },
    );
  }
}

/**
 * Returns the services of these connections that can be observed. A test may have replaced one by a stand-in, which has
 * no events.
 * @param what name of the caller, for the message
 * @throws LockConfigurationError when there is no such connection
 */
export function observableLocks(modules: ModuleRef, connections: readonly string[], what: string): LockService[] {
  const all = connections.map((name) => registeredLocks(modules, name, what));
  return all.filter((locks) => (connectionOf(locks) as unknown) !== undefined);
}
