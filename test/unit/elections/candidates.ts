import { Logger } from '@nestjs/common';
import { onTestFinished } from 'vitest';
import { LeaderElectionService } from '../../../lib/elections/leader-election.service.js';
import { LockService } from '../../../lib/service/lock.service.js';
import { closeService } from '../../support/services.js';
import { SharedBackend } from './shared.backend.js';

Logger.overrideLogger(false);

/** Applications that take part in the same elections. They are closed when the test has finished. */
export function startCandidates(count = 2) {
  const backend = new SharedBackend();
  const applications = Array.from({ length: count }, () => startCandidate(backend));
  const [one = startCandidate(backend), other = startCandidate(backend)] = applications;
  return { backend, applications, one, other };
}

export function startCandidate(backend: SharedBackend, drainTimeoutMs = 60_000) {
  const locks = new LockService(backend.connection(), {
    connectionName: 'default',
    service: 'test',
    waitMs: 60_000,
    drainTimeoutMs,
    connectOnStart: 'required',
  });
  const elections = new LeaderElectionService(locks);
  const close = async () => {
    elections.beforeApplicationShutdown();
    await closeService(locks);
  };
  onTestFinished(async () => {
    await Promise.all(['poller', 'other'].map((name) => elections.resign(name)));
    await close();
  });
  return { locks, elections, close };
}
