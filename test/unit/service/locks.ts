import { onTestFinished } from 'vitest';
import { LockService } from '../../../lib/service/lock.service.js';
import type { LockServiceOptions } from '../../../lib/service/lock-service.options.js';
import { ObservedBackend } from './observed.backend.js';

/** A LockService on a memory backend of its own; whatever it still holds is ended when the test has finished. */
export function startLocks(options: Partial<LockServiceOptions> = {}) {
  const backend = new ObservedBackend();
  // Every caller is a contender of its own, so that the backend's are counted; test/unit/local has the local line.
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
