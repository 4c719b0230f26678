import { deferred } from '../../../lib/async/deferred.js';
import { LockLostError } from '../../../lib/contract/errors.js';
import type { Lease } from '../../../lib/contract/lease.js';
import { currentRun } from '../../../lib/schedule/current-run.js';
import type { JobRun } from '../../../lib/schedule/job-event.js';
import { currentLease } from '../../../lib/service/held-leases.js';
import { ObservedBackend } from '../service/observed.backend.js';
import { startNode } from './jobs.js';

/** The job's key, as the application has it. */
export const KEY = 'cron/daily';
/** The key of the job's lock, as the backend has it. */
export const LOCK = '#jobs/test/cron/daily';
export const TICK = Date.UTC(2026, 0, 1, 12);

/** Some nodes on one backend, whose wall clocks stand still until they are set. */
export function cluster(count: number) {
  const backend = new ObservedBackend();
  const clock = { now: TICK + 5 };
  const nodes = Array.from({ length: count }, () => startNode(backend, () => clock.now));
  return { backend, clock, nodes, one: nodes[0]!, other: nodes.at(-1)! };
}

/** A body that says when it is inside, and stays there until it is told to end. */
export function blocking() {
  const entered = deferred<{ lease: Lease | undefined; run: JobRun | undefined }>();
  const mayEnd = deferred<unknown>();
  const body = () => {
    entered.resolve({ lease: currentLease(), run: currentRun() });
    return mayEnd.promise;
  };
  return { body, entered: entered.promise, end: mayEnd.resolve, fail: mayEnd.reject };
}

/** The instance that holds the lock has died: the servers end its lease, and nobody hears of its run any more. */
export async function die(backend: ObservedBackend): Promise<void> {
  const lease = backend.leaseOn(LOCK);
  lease?.lose(new LockLostError(KEY, 'died'));
  await lease?.release();
}
