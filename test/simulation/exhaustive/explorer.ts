/** A process that explores one scenario. */
import { examineSmall, smallBackend } from './examine.js';
import type { ExploreOrder, ExploreReport } from './messages.js';
import { scenarioNamed } from './scenarios.js';

const tell = (report: ExploreReport) => void process.send?.(report);

process.on('disconnect', () => process.exit(0));
process.once('message', ({ code, scenario, bounds, untilFound }: ExploreOrder) => {
  const isEnough = (found: number) => untilFound && found > 0;
  examineSmall(scenarioNamed(scenario), smallBackend(code), bounds, isEnough).then(
    (examined) => tell({ report: 'examined', examined }),
    (error: unknown) => tell({ report: 'failed', error: error instanceof Error ? (error.stack ?? '') : String(error) }),
  );
});
