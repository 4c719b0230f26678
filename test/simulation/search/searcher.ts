/** A searcher process: it examines one plan after the other. */
import { examine } from './examine.js';
import { TimeStandsStill } from '../world/world.js';
import type { Backend, Examined, PlanOfTraffic } from './examine.js';
import type { Order, Report } from './messages.js';
import { zookeeperBackend } from './zookeeper-backend.js';

let backend: Backend | undefined;

const tell = (report: Report) => void process.send?.(report);

process.on('disconnect', () => process.exit(0));
process.on('message', (order: Order) => void obey(order));

/** The results of a run that could not continue. */
function spun({ seed, seconds, faults }: PlanOfTraffic, { message }: TimeStandsStill): Examined {
  const findings = [{ check: 'liveness', message, records: [] }];
  const counts = { callbacks: 0, holds: 0, faults: faults.length, connections: 0, smallestMarginMs: Infinity };
  return { seed, findings, hash: message, simulatedMs: seconds * 1_000, reached: [], kinds: {}, ...counts };
}

async function obey(order: Order): Promise<void> {
  if (order.order === 'begin') {
    backend = zookeeperBackend(order.code);
    return tell({ report: 'ready' });
  }
  const { plan, keep } = order;
  try {
    if (!backend) throw new Error('there is nothing to simulate yet');
    const { examined, run } = await examine(plan, backend, keep);
    tell({ report: 'examined', examined, lines: run.lines });
  } catch (error) {
    if (error instanceof TimeStandsStill)
      return tell({ report: 'examined', examined: spun(plan, error), lines: undefined });
    const text = error instanceof Error ? (error.stack ?? String(error)) : String(error);
    tell({ report: 'failed', seed: plan.seed, error: text });
  }
}
