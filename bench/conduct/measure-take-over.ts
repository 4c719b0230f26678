import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { OnceReport } from '../crew/orders.js';
import type { TakeOverShape } from '../shapes.js';
import { quantile } from '../support/statistics.js';
import { overlaps } from '../support/tenures.js';
import type { Measured, Stage } from './stage.js';

/** Long enough for all that the first process still sends after its release. */
const BETWEEN_MS = 5;
/** The share of rounds that are warm-up. They come first. */
const UNCOUNTED = 0.2;

/** Lets one process acquire and release a key, then the other. Each round uses a new key. */
export async function measureTakeOver({ times }: TakeOverShape, { workers }: Stage): Promise<Measured> {
  const [first, second] = workers;
  const reports: { readonly lock: string; readonly report: OnceReport; readonly isSecond: boolean }[] = [];
  for (let time = 0; time < times; time++) {
    const lock = randomUUID();
    for (const worker of [first!, second!]) {
      reports.push({ lock, report: await worker.ask({ do: 'once', key: lock }), isSecond: worker === second });
      await pause(BETWEEN_MS);
    }
  }
  const seconds = reports.filter(({ isSecond }) => isSecond).slice(UNCOUNTED * times);
  const of = (us: (report: OnceReport) => number, share: number) =>
    quantile(
      seconds.map(({ report }) => us(report) / 1e3),
      share,
    );
  const cycle = ({ asked, from, to, released }: OnceReport) => from - asked + released - to;
  return {
    figures: {
      acquireP50Us: of(({ asked, from }) => from - asked, 0.5),
      p50Us: of(cycle, 0.5),
      p99Us: of(cycle, 0.99),
    },
    acquisitions: reports.length,
    overlaps: overlaps(reports.map(({ lock, report }) => ({ lock, from: report.from, to: report.to }))),
  };
}
