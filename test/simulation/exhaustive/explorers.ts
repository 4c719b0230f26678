import { join } from 'node:path';
import { forkProgram } from '../../support/child-program.js';
import { COMPILED } from '../places.js';
import type { SmallExamined } from './examine.js';
import type { ExploreOrder, ExploreReport } from './messages.js';

const SCRIPT = join(COMPILED, 'test', 'simulation', 'exhaustive', 'explorer.js');

/**
 * Explores scenarios, each in its own process, with at most `processes` at a time. No further scenario begins after
 * `examined` has returned `true`.
 * @throws Error when the simulation itself fails
 */
export async function exploreAll(
  orders: readonly ExploreOrder[],
  processes: number,
  examined: (one: SmallExamined) => boolean,
): Promise<void> {
  const left = [...orders];
  const exploreNext = async (): Promise<void> => {
    for (let order = left.shift(); order; order = left.shift()) {
      if (examined(await exploreIn(order))) left.length = 0;
    }
  };
  await Promise.all(Array.from({ length: processes }, exploreNext));
}

async function exploreIn(order: ExploreOrder): Promise<SmallExamined> {
  // Most objects are short-lived, so a larger semi-space saves garbage collections.
  await using program = forkProgram<ExploreOrder, ExploreReport>(SCRIPT, {
    execArgv: ['--max-semi-space-size=32'],
    serialization: 'advanced',
  });
  const report = await program.ask(order);
  if (report.report === 'examined') return report.examined;
  throw new Error(`${order.scenario}: ${report.error}`);
}
