import { StockRun } from './stock-run.js';
import type { RunOptions } from './stock-run.js';

export const SALE = { units: 1_000, segments: 16, buyers: 200, processes: 4, kills: 2 } as const;

export async function played(options: RunOptions) {
  const run = await StockRun.open(options);
  await run.play();
  return { run, account: await run.account() };
}
