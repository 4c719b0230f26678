import { AsyncLocalStorage } from 'node:async_hooks';
import type { JobRun } from './job-run.js';

const context = new AsyncLocalStorage<JobRun>();

/**
 * The run that the running code is part of, inside a method with `@CronLock`; `undefined` elsewhere. Its `tick` is the
 * same on every instance and in every attempt: what a report is named after, or a payment made idempotent by.
 */
export function currentRun(): JobRun | undefined {
  return context.getStore();
}

export function runAs<T>(run: JobRun, work: () => T): T {
  return context.run(run, work);
}
