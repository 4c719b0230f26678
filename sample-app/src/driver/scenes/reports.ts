import { setTimeout as pause } from 'node:timers/promises';
import type { ReportRun } from '../../reports/report-run.js';
import { tally } from '../answer.js';
import { CLOCK_SKEWS_MS } from '../cluster.js';
import type { Scene } from '../scene.js';

const PERIOD_MS = 1_000;

export const reports: Scene = {
  name: 'reports',
  story: `five clocks, wrong by ${CLOCK_SKEWS_MS.join(', ')} ms, fire one job each second; each second must be reported once`,
  violation: 'seconds reported twice or never',

  async play({ shop, files, sizes, signal }) {
    const switched = await Promise.all(shop.instances.map((instance) => instance.put('/reports/schedule')));
    await pause(sizes.reportSeconds * PERIOD_MS, undefined, { signal });
    switched.push(...(await Promise.all(shop.instances.map((instance) => instance.delete('/reports/schedule')))));
    await pause(PERIOD_MS, undefined, { signal });
    const runs = await files.records<ReportRun>('reports');
    const makers = [...new Set(runs.map(({ by }) => by))].toSorted();
    const firings = sizes.reportSeconds * shop.instances.length;
    return {
      requests: firings,
      done: runs.length,
      refused: new Map(),
      failed: tally(switched).failed,
      worstWaitMs: undefined,
      violations: repeated(runs) + missing(runs),
      remark: `${runs.length} reports of ${new Set(runs.map(({ tick }) => tick)).size} seconds, by ${makers.join(', ')}`,
    };
  },
};

function repeated(runs: readonly ReportRun[]): number {
  return runs.length - new Set(runs.map(({ tick }) => tick)).size;
}

/** Returns the number of missing seconds between the first and the last reported one. */
function missing(runs: readonly ReportRun[]): number {
  const ticks = new Set(runs.map(({ tick }) => tick));
  const span = (Math.max(...ticks) - Math.min(...ticks)) / PERIOD_MS + 1;
  return ticks.size === 0 ? 0 : Math.round(span) - ticks.size;
}
