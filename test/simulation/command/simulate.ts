import { DEFECTS, defectNamed } from '../defects/defects.js';
import type { Defect } from '../defects/defect.js';
import { exhaustiveCommand } from '../exhaustive/command.js';
import { drawPlan } from '../plan/draw-plan.js';
import { scenarioNamed } from '../plan/scenarios.js';
import { INVISIBLE } from '../defects/out-of-reach.js';
import { focusOf } from '../defects/focus.js';
import { examine } from '../search/examine.js';
import type { Examined, PlanOfTraffic } from '../search/examine.js';
import { search } from '../search/search.js';
import type { SearchResult } from '../search/search.js';
import { shrink } from '../search/shrink.js';
import { bundleAll, zookeeperBackend } from '../search/zookeeper-backend.js';
import { storyOf, writeStory } from '../report/story.js';
import { compareNodes } from './compare-nodes.js';
import { readOptions, USAGE } from './options.js';
import type { SimulateOptions } from './options.js';

const HOUR_MS = 3_600_000;

/** Resolves with the exit code. */
export async function simulateCommand(args: readonly string[]): Promise<number> {
  if (args.includes('--help')) {
    console.log(USAGE);
    return 0;
  }
  const options = readOptions(args);
  if (options.exhaustive) return exhaustiveCommand(options);
  if (options.replay !== undefined) return replayOne(drawn(options, options.replay));
  if (options.shrink !== undefined) return shrinkOne(drawn(options, options.shrink));
  if (options.node !== undefined) return compareNodes(options, options.node);
  if (options.defect !== undefined) return findDefects(options, options.defect);
  const result = await search(await bundleAll(), {
    ...options,
    simulatedMs: options.hours * HOUR_MS,
    focus: scenarioNamed(options.scenario),
    isEnough: () => false,
  });
  console.log(figuresOf(result));
  console.log(
    `${(result.simulatedMs / HOUR_MS).toFixed(1)} simulated hours, ${result.seeds} seeds, ${result.findings} findings`,
  );
  return result.findings === 0 && result.seeds > 0 ? 0 : 1;
}

function drawn({ seconds, scenario }: SimulateOptions, seed: number): PlanOfTraffic {
  return drawPlan(seed, seconds, scenarioNamed(scenario));
}

function figuresOf({ elapsedMs, simulatedMs, callbacks, compared, smallestMarginMs }: SearchResult): string {
  const perSecond = (count: number) => Math.round((count * 1_000) / elapsedMs).toLocaleString('en');
  return [
    `${(elapsedMs / 60_000).toFixed(1)} minutes`,
    `${perSecond(simulatedMs / 1_000)} simulated seconds a second`,
    `${perSecond(callbacks)} events a second`,
    `${compared} seeds run twice with the same history`,
    `the closest claim was ${smallestMarginMs.toFixed(1)} ms within what the servers allow`,
  ].join(', ');
}

/** Runs one plan, and prints its story. */
async function replayOne(plan: PlanOfTraffic): Promise<number> {
  const { run, examined } = await examine(plan, zookeeperBackend(await bundleAll()), true);
  console.log(storyOf(run));
  return tell(plan, examined, writeStory(plan, examined.findings, run));
}

function tell(plan: PlanOfTraffic, { findings, simulatedMs }: Examined, file: string): number {
  for (const { check, message } of findings) console.log(`${check}: ${message}`);
  console.log(`everything that happened is in ${file}`);
  console.log(
    `${(simulatedMs / HOUR_MS).toFixed(1)} simulated hours, 1 seeds, ${findings.length} findings (${plan.seed})`,
  );
  return findings.length === 0 ? 0 : 1;
}

/** Shrinks a plan with a finding as far as possible, and prints the story of the result. */
async function shrinkOne(plan: PlanOfTraffic): Promise<number> {
  const backend = zookeeperBackend(await bundleAll());
  const [finding] = (await examine(plan, backend)).examined.findings;
  if (!finding) {
    console.log(`nothing is wrong with seed ${plan.seed}`);
    return 0;
  }
  console.log(`${finding.check}: ${finding.message}`);
  const shows = async (smaller: PlanOfTraffic) => {
    const { examined } = await examine(smaller, backend).catch(() => ({ examined: undefined }));
    return examined?.findings.some(({ check }) => check === finding.check) ?? false;
  };
  const smallest = await shrink(plan, shows, ({ seconds, faults, world }) =>
    console.log(`still so with ${world.apps} applications, ${faults.length} faults, ${seconds} s`),
  );
  return replayOne(smallest);
}

/** Searches for defects that are planted in the library. All of them must be found. */
async function findDefects(options: SimulateOptions, name: string): Promise<number> {
  const missed: string[] = [];
  let [simulatedMs, seeds, findings] = [0, 0, 0];
  for (const defect of name === 'all'
    ? DEFECTS.filter((defect) => INVISIBLE[defect.name] === undefined)
    : [defectNamed(name)]) {
    const result = await findDefect(options, defect);
    simulatedMs += result.simulatedMs;
    seeds += result.seeds;
    findings += result.findings;
    const seconds = (result.elapsedMs / 1_000).toFixed(1);
    if (result.found)
      console.log(`found: ${defect.name}, seed ${result.found.seed}, ${seconds} s: ${result.found.checks}`);
    else missed.push(defect.name);
  }
  console.log(missed.length === 0 ? 'every defect was found' : `not found: ${missed.join(', ')}`);
  console.log(`${(simulatedMs / HOUR_MS).toFixed(1)} simulated hours, ${seeds} seeds, ${findings} findings`);
  return missed.length === 0 ? 0 : 1;
}

async function findDefect(options: SimulateOptions, defect: Defect) {
  const code = await bundleAll(defect.edits);
  let found: { seed: number; checks: string } | undefined;
  const checksOf = ({ findings }: Examined) => [...new Set(findings.map(({ check }) => check))];
  const result = await search(code, {
    ...options,
    simulatedMs: options.hours * HOUR_MS,
    focus: focusOf(defect),
    replayEvery: 0,
    isQuiet: true,
    isEnough: (examined) => {
      const checks = checksOf(examined);
      if (!found && checks.some((check) => (defect.finds as readonly string[]).includes(check))) {
        found = { seed: examined.seed, checks: checks.join(', ') };
      }
      return found !== undefined;
    },
  });
  return { ...result, found };
}
