import { Logger } from '@nestjs/common';
import { onTestFinished, vi } from 'vitest';
import type { LockBackend } from '../../../lib/contract/lock-backend.js';
import { LockService } from '../../../lib/service/lock.service.js';
import { startLocks } from '../service/locks.js';

/** A service on the backend, as in another process: it knows nothing about the other services. */
export function anotherService(backend: LockBackend): LockService {
  const options = {
    localLine: false,
    connectionName: 'default',
    waitMs: 60_000,
    drainTimeoutMs: 60_000,
    connectOnStart: 'required',
  } as const;
  return new LockService(backend, options);
}

/** A segmented key as two processes use it, on a memory backend. */
export function startSegments(segments: number, key = 'stock') {
  const { locks, backend } = startLocks();
  const other = anotherService(backend);
  return {
    backend,
    locks,
    other,
    lock: locks.segmented(key, { segments }),
    others: other.segmented(key, { segments }),
    /** The requested keys, and whether each request was willing to wait. */
    asked: () => backend.requests.map((request) => [request.key, request.wait] as const),
  };
}

export const keyOf = (segment: number) => `stock/#${String(segment).padStart(4, '0')}`;

/** Records the warnings from now on. */
export function spyOnWarnings(): () => string[] {
  const warn = vi.spyOn(Logger.prototype, 'warn').mockReturnValue();
  onTestFinished(() => warn.mockRestore());
  return () => warn.mock.calls.map(([message]) => String(message));
}
