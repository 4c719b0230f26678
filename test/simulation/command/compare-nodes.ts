import { drawPlan } from '../plan/draw-plan.js';
import { scenarioNamed } from '../plan/scenarios.js';
import type { PlanOfTraffic } from '../search/examine.js';
import { Searcher } from '../search/searchers.js';
import { bundleAll } from '../search/zookeeper-backend.js';
import type { SimulateOptions } from './options.js';

const HOUR_MS = 3_600_000;

interface Compared {
  readonly seed: number;
  readonly simulatedMs: number;
  /** The checks with findings on each version. They are equal if nothing is wrong. */
  readonly verdicts: readonly [here: string, there: string];
  /** The first line that differs, on each version. `undefined` if the runs are the same. */
  readonly difference: readonly [here: string, there: string] | undefined;
}

/** Runs seeds on this Node.js and on another one. The findings must not depend on the version. */
export async function compareNodes(options: SimulateOptions, node: string): Promise<number> {
  const code = await bundleAll();
  let [here, there]: (Searcher | undefined)[] = [];
  const all: Compared[] = [];
  const simulatedMs = () => all.reduce((sum, one) => sum + one.simulatedMs, 0);
  try {
    for (let { seed } = options; simulatedMs() < options.hours * HOUR_MS; seed++) {
      here = await Searcher.startUnlessFresh(here, code);
      there = await Searcher.startUnlessFresh(there, code, node);
      const compared = await compare(drawPlan(seed, options.seconds, scenarioNamed(options.scenario)), here, there);
      all.push(compared);
      tell(compared);
    }
  } finally {
    for (const searcher of [here, there]) searcher?.end();
  }
  const differing = all.filter(({ verdicts: [one, other] }) => one !== other).length;
  const same = all.filter(({ difference }) => !difference).length;
  console.log(`${same} of ${all.length} seeds had the same history on both`);
  const hours = (simulatedMs() / HOUR_MS).toFixed(1);
  console.log(`${hours} simulated hours, ${all.length} seeds, ${differing} found something else on ${node}`);
  return differing === 0 ? 0 : 1;
}

async function compare(plan: PlanOfTraffic, here: Searcher, there: Searcher): Promise<Compared> {
  const [one, other] = await Promise.all([here.examine(plan), there.examine(plan)]);
  const verdictOf = ({ findings }: typeof one.examined) => findings.map(({ check }) => check).join(', ');
  const isSame = one.examined.hash === other.examined.hash;
  return {
    seed: plan.seed,
    simulatedMs: one.examined.simulatedMs,
    verdicts: [verdictOf(one.examined), verdictOf(other.examined)],
    difference: isSame ? undefined : await firstDifference(plan, here, there),
  };
}

async function firstDifference(plan: PlanOfTraffic, here: Searcher, there: Searcher): Promise<[string, string]> {
  const [{ lines: one = [] }, { lines: other = [] }] = [
    await here.examine(plan, true),
    await there.examine(plan, true),
  ];
  const at = Array.from({ length: Math.max(one.length, other.length) }).findIndex(
    (_, line) => one[line] !== other[line],
  );
  return [one[at] ?? 'nothing more', other[at] ?? 'nothing more'];
}

function tell({ seed, verdicts: [here, there], difference }: Compared): void {
  if (here !== there) console.log(`seed ${seed}: "${here}" was found here, "${there}" there`);
  if (difference) console.log(`seed ${seed}: the first difference\n  ${difference.join('\n  ')}`);
}
