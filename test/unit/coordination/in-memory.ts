import { CoordinationService, LockService } from '../../../lib/index.js';
import { MemoryBackend } from '../../../lib/memory/memory.backend.js';

const OPTIONS = {
  connectionName: 'default',
  service: 'test',
  waitMs: 20_000,
  drainTimeoutMs: 0,
  connectOnStart: 'required',
} as const;

/** Two services that share one memory. */
export async function inMemory() {
  const backend = new MemoryBackend();
  const [one, other] = [0, 1].map(() => new CoordinationService(new LockService(backend, OPTIONS)));
  return { one: one!, other: other!, backend };
}
