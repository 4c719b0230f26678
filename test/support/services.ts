import { onTestFinished } from 'vitest';
import type { LockService } from '../../lib/service/lock.service.js';
import { closeService, plainService } from './plain-service.js';
import type { PlainServiceOptions } from './plain-service.js';

export { closeService } from './plain-service.js';

export type ServiceOptions = PlainServiceOptions;

/**
 * A service with a session of its own, as another process would have; closed when the test has finished. Every caller is
 * a contender of its own, as callers in other processes would be, unless `localLine` says otherwise.
 */
export async function openService(options: ServiceOptions): Promise<LockService> {
  return plainService({ waitMs: 20_000, sessionTimeoutMs: 4_000, localLine: false, ...options }, (made) =>
    onTestFinished(() => closeService(made)),
  );
}
