import { onTestFinished } from 'vitest';
import { CoordinationService } from '../../../lib/coordination/coordination.service.js';
import { LeaderElectionService } from '../../../lib/elections/leader-election.service.js';
import { MemoryBackend } from '../../../lib/memory/memory.backend.js';
import type { LockServiceOptions } from '../../../lib/service/lock-service.options.js';
import { LockService } from '../../../lib/service/lock.service.js';
import { EventReferee } from './event-referee.js';

/** The services of one application on its own memory backend, with a referee of its events. */
export function startServices(options: Partial<LockServiceOptions> = {}) {
  const backend = new MemoryBackend();
  const locks = new LockService(backend, {
    connectionName: 'default',
    service: 'test',
    waitMs: 60_000,
    drainTimeoutMs: 1_000,
    connectOnStart: 'required',
    ...options,
  });
  const elections = new LeaderElectionService(locks);
  const coordination = new CoordinationService(locks);
  const referee = new EventReferee(locks.origin);
  const close = async () => {
    coordination.beforeApplicationShutdown();
    elections.beforeApplicationShutdown();
    locks.beforeApplicationShutdown();
    await locks.onApplicationShutdown();
  };
  onTestFinished(async () => {
    await close();
    referee.stop();
  });
  return { backend, locks, elections, coordination, referee, close };
}
