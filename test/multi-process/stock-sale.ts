import { StockRun } from './stock-run.js';
import type { RunOptions } from './stock-run.js';

export const SALE = { units: 1_000, segments: 16, buyers: 200, processes: 4, kills: 2 } as const;

/**
 * A sale for a slow store. Each write waits for its own lock, and on a busy machine for every process to be scheduled.
 */
export const SMALL_SALE = { units: 200, segments: 4, buyers: 40, processes: 4, kills: 1 } as const;

export async function played(options: RunOptions) {
  const run = await StockRun.open(options);
  await run.play();
  return { run, account: await run.account() };
}
