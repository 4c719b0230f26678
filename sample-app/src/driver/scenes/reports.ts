import { setTimeout as pause } from 'node:timers/promises';
import { REPORT_JOB, REPORT_TAKES_MS } from '../../reports/report-run.js';
import type { ReportRun } from '../../reports/report-run.js';
import { tally } from '../answer.js';
import { mostAtOnce, overlapping } from '../intervals.js';
import type { Scene } from '../scene.js';

export const reports: Scene = {
  name: 'reports',
  story: 'three clocks fire the same job each second, and no two runs must overlap',
  violation: 'overlapping runs',

  async play({ shop, files, activity, sizes, signal }) {
    const switched = await Promise.all(shop.instances.map((instance) => instance.put('/reports/schedule')));
    await pause(sizes.reportSeconds * 1_000, undefined, { signal });
    switched.push(...(await Promise.all(shop.instances.map((instance) => instance.delete('/reports/schedule')))));
    await pause(REPORT_TAKES_MS + 300, undefined, { signal });
    const runs = await files.records<ReportRun>('reports');
    const makers = [...new Set(runs.map(({ by }) => by))].toSorted();
    const firings = activity.timesAsked(REPORT_JOB);
    const skipped = firings - runs.length;
    return {
      requests: firings,
      done: runs.length,
      refused: new Map(skipped > 0 ? [['skipped', skipped]] : []),
      failed: tally(switched).failed,
      worstWaitMs: undefined,
      violations: overlapping(runs),
      remark: `at most ${mostAtOnce(runs)} at once, by ${makers.join(', ')}`,
    };
  },
};
