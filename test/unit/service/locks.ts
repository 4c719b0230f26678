import { onTestFinished } from 'vitest';
import { LockService } from '../../../lib/service/lock.service.js';
import type { LockServiceOptions } from '../../../lib/service/lock-service.options.js';
import { ObservedBackend } from './observed.backend.js';

/** Starts a LockService on its own memory backend. Leases that are left are ended when the test has finished. */
export function startLocks(options: Partial<LockServiceOptions> = {}) {
  const backend = new ObservedBackend();
  // Every caller is a contender of its own here, so that contenders can be counted. test/unit/local tests the local
  // queue.
  const defaults = {
    localLine: false,
    connectionName: 'default',
    service: 'test',
    waitMs: 60_000,
    drainTimeoutMs: 60_000,
    connectOnStart: 'required',
  };
  const locks = new LockService(backend, { ...(defaults as LockServiceOptions), ...options });
  onTestFinished(() => backend.close());
  return { locks, backend };
}
