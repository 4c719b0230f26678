import { expect, it } from 'vitest';
import { NEVER, orAbort } from '../../../lib/async/abort.js';
import { deferred } from '../../../lib/async/deferred.js';
import { INT32_CODEC, SharedCounter } from '../../../lib/coordination/shared-value.js';
import { Waiting } from '../../../lib/coordination/waiting.js';
import type { CellWrite } from '../../../lib/contract/coordination-backend.js';
import { MemoryBackend } from '../../../lib/memory/memory.backend.js';
import { connectionOf, LockService } from '../../../lib/service/lock.service.js';

const OPTIONS = { connectionName: 'default', waitMs: 1_000, drainTimeoutMs: 0, connectOnStart: 'required' } as const;

it('an update that was sent before its deadline does not time out', async () => {
  const answer = deferred<CellWrite>();
  const write = (_key: string, _change: unknown, signal: AbortSignal) => orAbort(answer.promise, signal);
  const cells = { read: async () => undefined, write };
  const backend = Object.assign(new MemoryBackend(), { coordination: { cells } });
  const locks = new LockService(backend, OPTIONS);
  const counter = new SharedCounter(
    { key: 'c', at: 'shop/c' },
    { codec: INT32_CODEC, initial: 4 },
    new Waiting(connectionOf(locks), NEVER),
  );
  setTimeout(() => answer.resolve({ isApplied: true, version: 0 }), 60);
  expect(await counter.add(1, { waitMs: 10 })).toEqual({ value: 5, version: 0 });
});
