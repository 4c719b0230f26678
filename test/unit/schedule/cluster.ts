import { deferred } from '../../../lib/async/deferred.js';
import { LockLostError } from '../../../lib/contract/errors.js';
import type { Lease } from '../../../lib/contract/lease.js';
import { currentRun } from '../../../lib/schedule/current-run.js';
import type { JobRun } from '../../../lib/contract/job-event.js';
import { currentLease } from '../../../lib/service/held-leases.js';
import { ObservedBackend } from '../service/observed.backend.js';
import { startNode } from './jobs.js';

/** The key of the job, as the application names it. */
export const KEY = 'cron/daily';
/** The key of the job's lock, as the backend names it. */
export const LOCK = '#jobs/test/cron/daily';
export const TICK = Date.UTC(2026, 0, 1, 12);

/** Several nodes on one backend. Their wall clocks move only when a test sets them. */
export function cluster(count: number) {
  const backend = new ObservedBackend();
  const clock = { now: TICK + 5 };
  const nodes = Array.from({ length: count }, () => startNode(backend, () => clock.now));
  return { backend, clock, nodes, one: nodes[0]!, other: nodes.at(-1)! };
}

/** A body that resolves `entered` when it runs, and runs until the test ends it. */
export function blocking() {
  const entered = deferred<{ lease: Lease | undefined; run: JobRun | undefined }>();
  const mayEnd = deferred<unknown>();
  const body = () => {
    entered.resolve({ lease: currentLease(), run: currentRun() });
    return mayEnd.promise;
  };
  return { body, entered: entered.promise, end: mayEnd.resolve, fail: mayEnd.reject };
}

/** Simulates that the instance with the lock dies: the servers end its lease, and its run is never reported again. */
export async function die(backend: ObservedBackend): Promise<void> {
  const lease = backend.leaseOn(LOCK);
  lease?.lose(new LockLostError(KEY, 'died'));
  await lease?.release();
}
