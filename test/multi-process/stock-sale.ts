import { StockRun } from './stock-run.js';
import type { RunOptions } from './stock-run.js';

export const SALE = { units: 1_000, segments: 16, buyers: 200, processes: 4, kills: 2 } as const;

/** For a store that takes long: each of its writes waits for a lock of its own, and on a busy machine for a turn of each process. */
export const SMALL_SALE = { units: 200, segments: 4, buyers: 40, processes: 4, kills: 1 } as const;

export async function played(options: RunOptions) {
  const run = await StockRun.open(options);
  await run.play();
  return { run, account: await run.account() };
}
