import { Inject } from '@nestjs/common';
import { getLockServiceToken } from './service/lock-service.token.js';

export { getLockServiceToken };

/** Injects the `LockService` of a connection by name; `LockService` as a parameter's type does it for the default one. */
export function InjectLocks(name?: string): PropertyDecorator & ParameterDecorator {
  return Inject(getLockServiceToken(name));
}
