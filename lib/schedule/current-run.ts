import { AsyncLocalStorage } from 'node:async_hooks';
import type { JobRun } from '../contract/job-event.js';

/**
 * The run of an async context. Cleared when the run has ended: work that was started in it and not awaited may
 * continue.
 */
interface RunScope {
  run: JobRun | undefined;
}

const context = new AsyncLocalStorage<RunScope>();

/**
 * Returns the run that the running code is part of, inside a method with `@CronLock`. Returns `undefined` elsewhere,
 * also in work that was started there, not awaited, and outlived it. The run's `tick` is the same on every instance and
 * in every attempt. It can name a report, or make a payment idempotent.
 */
export function currentRun(): JobRun | undefined {
  return context.getStore()?.run;
}

export async function runAs<T>(run: JobRun, work: () => Promise<T>): Promise<T> {
  const scope: RunScope = { run };
  try {
    return await context.run(scope, work);
  } finally {
    scope.run = undefined;
  }
}
