import type { Lease } from '../contract/lease.js';
import type { Lock } from '../contract/lock.js';
import type { LockConnection } from '../service/lock-connection.js';
import { assertStands } from '../service/hold-scope.js';
import type { JobContext } from './job-context.js';
import { runOf } from './marker.js';
import type { Marked } from './markers.js';
import { newMarker, performRun } from './perform-run.js';
import type { Body } from './perform-run.js';
import type { ScheduledJob } from './scheduled-job.js';

/** The outcome of an attempt that ran the method. */
export interface Ran {
  readonly result: unknown;
}

/**
 * The lock of a job. With `onCrash: 'rerun'` contenders wait in the queue to finish a run. Without it no contender
 * waits, and a lock without a queue is cheaper to acquire. Both kinds exclude each other, in case instances differ.
 * @throws LockConfigurationError for a key that is not valid, and when it needs a service and none is set
 */
export function lockOf({ key, title, options }: ScheduledJob, connection: LockConnection): Lock {
  const line = options.onCrash === 'rerun' ? 'fifo' : 'none';
  return connection.jobLock(key, line, title);
}

/**
 * One attempt to run a job. It records whether the method was reached, so that its errors are not taken for the lock's.
 */
export class Attempt {
  readonly job: ScheduledJob;
  readonly #context: JobContext;
  readonly #body: Body;
  #progress: 'before' | 'running' | 'ended' = 'before';

  constructor(job: ScheduledJob, context: JobContext, body: Body) {
    this.job = job;
    this.#context = context;
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
    return lockOf(this.job, this.#context.connection);
  }

  /**
   * Runs the method. Resolves to `undefined` without running it when the marker has changed since it was read.
   * @throws LockLostError before the method is reached, when the lease is no longer held; the method's own error
   */
  async run(lease: Lease, seen: Marked, tick: number | undefined, attempt: number): Promise<Ran | undefined> {
    const claimed = await this.#context.markers.write(newMarker(this.job, tick, attempt), seen);
    if (!claimed?.marker) return undefined;
    assertStands(lease);
    this.#progress = 'running';
    // This process holds the lock, so a run that is still recorded as running has crashed.
    if (seen.marker?.state === 'running') this.#context.emit({ type: 'crashed', run: runOf(seen.marker, 'crashed') });
    try {
      const { marker } = claimed;
      return { result: await performRun(lease, { ...claimed, marker }, this.job, this.#context, this.#body) };
    } finally {
      this.#progress = 'ended';
    }
  }
}
