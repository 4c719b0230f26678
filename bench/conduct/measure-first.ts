import { randomUUID } from 'node:crypto';
import type { OnceReport } from '../crew/orders.js';
import type { FirstShape } from '../shapes.js';
import { quantile } from '../support/statistics.js';
import { overlaps } from '../support/tenures.js';
import type { Measured, Stage } from './stage.js';

/** Measures the first acquisitions of a process that has just connected. Nothing is warmed up. */
export async function measureFirst({ times }: FirstShape, { workers }: Stage): Promise<Measured> {
  const [worker] = workers;
  const key = randomUUID();
  const reports: OnceReport[] = [];
  for (let time = 0; time < times; time++) reports.push(await worker!.ask({ do: 'once', key }));
  const cycles = reports.map(({ asked, from, to, released }) => (from - asked + released - to) / 1e3);
  return {
    figures: {
      acquireP50Us: quantile(
        reports.map(({ asked, from }) => (from - asked) / 1e3),
        0.5,
      ),
      p50Us: quantile(cycles, 0.5),
      p99Us: quantile(cycles, 0.99),
    },
    acquisitions: reports.length,
    overlaps: overlaps(reports.map(({ from, to }) => ({ lock: key, from, to }))),
  };
}
