import { Logger } from '@nestjs/common';
import { onTestFinished, vi } from 'vitest';
import type { LockBackend } from '../../../lib/contract/lock-backend.js';
import { LockService } from '../../../lib/service/lock.service.js';
import { startLocks } from '../service/locks.js';

/** A service on a backend, as another process has one: it knows nothing of who else is there. */
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

/** A key in segments as two processes see it, on a memory backend. */
export function startSegments(segments: number, key = 'stock') {
  const { locks, backend } = startLocks();
  const other = anotherService(backend);
  return {
    backend,
    locks,
    other,
    lock: locks.segmented(key, { segments }),
    others: other.segmented(key, { segments }),
    /** The keys that were asked for, and whether the asker was ready to wait. */
    asked: () => backend.requests.map((request) => [request.key, request.wait] as const),
  };
}

export const keyOf = (segment: number) => `stock/#${String(segment).padStart(4, '0')}`;

/** What is said to the operator from now on. */
export function spyOnWarnings(): () => string[] {
  const warn = vi.spyOn(Logger.prototype, 'warn').mockReturnValue();
  onTestFinished(() => warn.mockRestore());
  return () => warn.mock.calls.map(([message]) => String(message));
}
