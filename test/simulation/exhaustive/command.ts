import { defectNamed } from '../defects/defects.js';
import type { Bounds } from './choices.js';
import { readChoices } from './choices.js';
import { bundleSmall, replaySmall, smallBackend } from './examine.js';
import type { SmallCode, SmallExamined } from './examine.js';
import { exploreAll } from './explorers.js';
import { SCENARIOS, scenarioNamed } from './scenarios.js';
import type { Scenario } from './scenarios.js';

/** The options of `npm run simulate -- --exhaustive`. */
export interface ExhaustiveOptions {
  /** The name of a scenario, or `all`. */
  readonly scenario: string;
  /** Replaces the scenario's own bound. */
  readonly deviations: number | undefined;
  /** Replaces the scenario's own bound. */
  readonly faults: number | undefined;
  /** The name of a defect to plant. */
  readonly defect: string | undefined;
  /** The choices of a run whose story is to be printed. */
  readonly choices: string | undefined;
  readonly processes: number;
}

/** Resolves with the exit code. */
export async function exhaustiveCommand(options: ExhaustiveOptions): Promise<number> {
  if (options.choices !== undefined) return replayOne(options, options.choices);
  if (options.defect === 'all') throw new Error('--exhaustive looks for one defect at a time: name it');
  const total = await exploreScenarios(options);
  const isFound = total.found > 0;
  if (options.defect !== undefined) console.log(`${isFound ? 'found' : 'not found'}: ${options.defect}`);
  console.log(lastLine(total.schedules, total.states, total.found));
  if (options.defect !== undefined) return isFound ? 0 : 1;
  return !isFound && total.schedules > 0 ? 0 : 1;
}

interface Total {
  schedules: number;
  states: number;
  found: number;
}

async function exploreScenarios(options: ExhaustiveOptions): Promise<Total> {
  const code = await codeOf(options);
  const scenarios = options.scenario === 'all' ? SCENARIOS : [scenarioNamed(options.scenario)];
  const total: Total = { schedules: 0, states: 0, found: 0 };
  const untilFound = options.defect !== undefined;
  const orders = scenarios.map((one) => ({ code, scenario: one.name, bounds: boundsOf(one, options), untilFound }));
  await exploreAll(orders, options.processes, (one) => {
    tell(one, boundsOf(scenarioNamed(one.scenario), options), options);
    total.schedules += one.schedules;
    total.states += one.states;
    total.found += one.found;
    return untilFound && total.found > 0;
  });
  return total;
}

/** The library as it is, or with a planted defect. */
function codeOf({ defect }: ExhaustiveOptions): Promise<SmallCode> {
  return bundleSmall(defect === undefined ? [] : defectNamed(defect).edits);
}

function tell(one: SmallExamined, bounds: Bounds, { defect }: ExhaustiveOptions): void {
  console.log(figuresOf(one, bounds));
  const planted = defect === undefined ? '' : ` --defect ${defect}`;
  for (const { choices, checks, message } of one.findings) {
    console.log(`${one.scenario}: ${checks}: ${message}`);
    console.log(`  npm run simulate -- --exhaustive --scenario ${one.scenario}${planted} --choices "${choices}"`);
  }
}

function boundsOf(
  { bounds }: Scenario,
  { deviations = bounds.deviations, faults = bounds.faults }: ExhaustiveOptions,
): Bounds {
  return { deviations, faults, deviationsWithFaults: Math.min(bounds.deviationsWithFaults, deviations) };
}

function figuresOf(one: SmallExamined, { deviations, faults, deviationsWithFaults }: Bounds): string {
  return [
    `${one.scenario}: up to ${deviations} deviations, or ${faults} faults with up to ${deviationsWithFaults}`,
    `${one.schedules} schedules and ${one.cut} that were cut short`,
    `${one.states} states`,
    `up to ${one.points} choices a run`,
    `${one.granted} grants`,
    `${one.found} findings`,
    `${(one.cpuMs / 1_000).toFixed(0)} s of a core`,
  ].join(', ');
}

function lastLine(schedules: number, states: number, findings: number): string {
  return `${schedules} schedules, ${states} states, ${findings} findings`;
}

/** Runs one list of choices, and prints its story. */
async function replayOne(options: ExhaustiveOptions, choices: string): Promise<number> {
  const given = readChoices(choices);
  const { findings, story = [] } = await replaySmall(
    scenarioNamed(options.scenario),
    smallBackend(await codeOf(options)),
    given,
  );
  console.log(story.join('\n'));
  for (const { check, message } of findings) console.log(`${check}: ${message}`);
  console.log(lastLine(1, 0, findings.length));
  return findings.length === 0 ? 0 : 1;
}
