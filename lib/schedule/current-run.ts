import { AsyncLocalStorage } from 'node:async_hooks';
import type { JobRun } from './job-event.js';

/** Emptied when the run has ended: what was started in it and not awaited may live on. */
interface Stretch {
  run: JobRun | undefined;
}

const context = new AsyncLocalStorage<Stretch>();

/**
 * The run that the running code is part of, inside a method with `@CronLock`; `undefined` elsewhere, also in work that was
 * started there, not awaited, and outlived it. Its `tick` is the same on every instance and in every attempt: what a
 * report is named after, or a payment made idempotent by.
 */
export function currentRun(): JobRun | undefined {
  return context.getStore()?.run;
}

export async function runAs<T>(run: JobRun, work: () => Promise<T>): Promise<T> {
  const stretch: Stretch = { run };
  try {
    return await context.run(stretch, work);
  } finally {
    stretch.run = undefined;
  }
}
