import { onTestFinished } from 'vitest';
import type { LockService } from '../../lib/service/lock.service.js';
import { closeService, plainService } from './plain-service.js';
import type { PlainServiceOptions } from './plain-service.js';

export { closeService } from './plain-service.js';

export type ServiceOptions = PlainServiceOptions;

/** Long enough for a process that a busy machine suspends for a while. Tests of session expiry use shorter sessions. */
const SESSION_MS = 10_000;

/**
 * A service with a session of its own, as another process would have. It is closed when the test has finished. Every
 * caller is a contender of its own, as callers in other processes would be, unless `localLine` says otherwise.
 */
export async function openService(options: ServiceOptions): Promise<LockService> {
  return plainService({ waitMs: 20_000, sessionTimeoutMs: SESSION_MS, localLine: false, ...options }, (made) =>
    onTestFinished(() => closeService(made)),
  );
}
