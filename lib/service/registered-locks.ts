import type { ModuleRef } from '@nestjs/core';
import { LockConfigurationError } from '../contract/errors.js';
import { registrationOf } from './connection-token.js';
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
