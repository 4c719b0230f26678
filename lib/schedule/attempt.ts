import type { Lease } from '../contract/lease.js';
import type { Lock } from '../contract/lock.js';
import type { LockService } from '../service/lock.service.js';
import { assertStands } from '../service/held-leases.js';
import type { JobContext } from './crew.js';
import { runOf } from './marker.js';
import type { Marked } from './markers.js';
import { newMarker, performRun } from './perform-run.js';
import type { Body } from './perform-run.js';
import type { ScheduledJob } from './scheduled-job.js';

/** What became of an attempt that ran the method. */
export interface Ran {
  readonly result: unknown;
}

/**
 * The lock of a job. With `onCrash: 'rerun'` contenders wait in line to finish a run; without it nobody waits, and a lock
 * without a line takes less to get. Both exclude each other, should instances differ.
 * @throws LockConfigurationError for a key that is none, and when it needs a service and none is set
 */
export function lockOf({ key, title, options }: ScheduledJob, locks: LockService): Lock {
  const line = options.onCrash === 'rerun' ? 'fifo' : 'none';
  return locks.jobLock(key, line, title);
}

/** One attempt to run a job. Knows whether the method was reached, so that its errors are not taken for the lock's. */
export class Attempt {
  readonly job: ScheduledJob;
  readonly #crew: JobContext;
  readonly #body: Body;
  #progress: 'before' | 'running' | 'ended' = 'before';

  constructor(job: ScheduledJob, crew: JobContext, body: Body) {
    this.job = job;
    this.#crew = crew;
    this.#body = body;
  }

  get hasBegun(): boolean {
    return this.#progress !== 'before';
  }

  get isRunning(): boolean {
    return this.#progress === 'running';
  }

  /** The job's lock, see `lockOf`. */
  get lock(): Lock {
    return lockOf(this.job, this.#crew.locks);
  }

  /**
   * Runs the method, unless the marker is not as it was seen any more: `undefined` then.
   * @throws LockLostError before the method is reached, when the lease does not stand any more; the method's own error
   */
  async run(lease: Lease, seen: Marked, tick: number | undefined, attempt: number): Promise<Ran | undefined> {
    const claimed = await this.#crew.markers.write(newMarker(this.job, tick, attempt), seen);
    if (!claimed?.marker) return undefined;
    assertStands(lease);
    this.#progress = 'running';
    // The lock is ours, so nobody runs what is still said to be running.
    if (seen.marker?.state === 'running') this.#crew.emit({ type: 'crashed', run: runOf(seen.marker, 'crashed') });
    try {
      const { marker } = claimed;
      return { result: await performRun(lease, { ...claimed, marker }, this.job, this.#crew, this.#body) };
    } finally {
      this.#progress = 'ended';
    }
  }
}
