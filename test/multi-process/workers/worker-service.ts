import type { LockBackend } from '../../../lib/contract/lock-backend.js';
import { LockService } from '../../../lib/service/lock.service.js';

/** A connected service, as a Nest application would have it. */
export async function connected(backend: LockBackend): Promise<LockService> {
  const service = new LockService(backend, {
    connectionName: 'default',
    service: 'test',
    waitMs: 120_000,
    drainTimeoutMs: 0,
    connectOnStart: 'required',
    // A planted lock that excludes nobody must not be hidden: a local queue would separate the callers of this process.
    localLine: backend.name === 'zookeeper',
  });
  await service.onModuleInit();
  return service;
}
