/**
 * The long run: `npm run robustness -- [options]`. With `--defect`, the same on a library with a planted defect, which has
 * to be detected.
 */
import { sharedNow } from './clock.js';
import { DEFECTS, defectNamed } from './defects/defects.js';
import type { Defect } from './defects/defects.js';
import { plant } from './defects/plant.js';
import { readOptions, USAGE } from './options.js';
import { ProgressLine } from './report/progress-line.js';
import { failureOf, summaryOf, writeHistory } from './report/report.js';
import { conduct } from './scenarios/conduct.js';
import type { Progress } from './scenarios/conduct.js';
import type { Scenario } from './scenarios/scenario.js';
import { scenariosOn } from './scenarios/other-backends.js';
import { scenarioNamed } from './scenarios/scenarios.js';
import type { Finding } from './validate/finding.js';
import { inShare } from './validate/substance.js';
import { validate } from './validate/validate.js';

// A blocked wait queue is detected sooner than a busy machine without defects would need.
const DEFECT_FINAL_LIMIT_MS = 8_000;

const args = process.argv.slice(2);
if (args.includes('--help')) {
  console.log(USAGE);
  process.exit();
}
const { backend, seconds, seed: firstSeed, scenario: only, defect: planted, keep } = readOptions(args);
process.exitCode = (planted === undefined ? await findsNothing() : await findsAll(planted)) ? 0 : 1;

/** Runs all scenarios, then all again with the next seed, until the time is up. */
async function findsNothing(): Promise<boolean> {
  const { scenarios: all, leftOut } = scenariosOn(backend);
  for (const { name, why } of leftOut) console.log(`left out on ${backend}: ${name} (${why})`);
  const scenarios = only === undefined ? all : [scenarioNamed(only, all)];
  const until = sharedNow() + seconds * 1_000;
  let [runs, failures] = [0, 0];
  for (let seed = firstSeed; sharedNow() < until; seed++) {
    for (const scenario of scenarios) {
      if (sharedNow() >= until) break;
      runs++;
      if ((await findingsOf(scenario, seed, until)).length > 0) failures++;
    }
  }
  console.log(`${runs} runs from seed ${firstSeed} on, ${failures} with findings`);
  return failures === 0 && runs > 0;
}

async function findsAll(name: string): Promise<boolean> {
  const missed: string[] = [];
  const all = DEFECTS.filter((defect) => (defect.backend ?? 'zookeeper') === backend);
  for (const defect of name === 'all' ? all : [defectNamed(name)]) {
    if (!(await isFound(defect))) missed.push(defect.name);
  }
  console.log(missed.length === 0 ? 'every defect was found' : `not found: ${missed.join(', ')}`);
  return missed.length === 0;
}

/** Runs one seed after another until the defect is detected, or the time is up. */
async function isFound(defect: Defect): Promise<boolean> {
  using _planted = plant(defect);
  const { scenarios } = scenariosOn(defect.backend ?? 'zookeeper');
  const scenario = { ...scenarioNamed(defect.scenario, scenarios), finalLimitMs: DEFECT_FINAL_LIMIT_MS };
  const until = sharedNow() + seconds * 1_000;
  for (let seed = firstSeed; sharedNow() < until; seed++) {
    const checks = (await findingsOf(scenario, seed, until)).map(({ check }) => check);
    if (!checks.includes(defect.finds)) continue;
    console.log(`found: ${defect.name}, by ${scenario.name}, seed ${seed}: ${[...new Set(checks)].join(', ')}`);
    return true;
  }
  return false;
}

async function findingsOf(scenario: Scenario, seed: number, until: number): Promise<readonly Finding[]> {
  const line = new ProgressLine(`${scenario.backend}: ${scenario.name}, seed ${seed}`);
  const length = Math.ceil(Math.min(scenario.seconds, Math.max(5, (until - sharedNow()) / 1_000)));
  const history = await conduct(scenario, { seed, seconds: length, onProgress: (progress) => show(line, progress) });
  line.clear();
  const findings = validate(history, inShare(scenario.least, length / scenario.seconds));
  if (keep) writeHistory(history, findings);
  console.log(findings.length === 0 ? summaryOf(history) : failureOf(history, findings, length));
  return findings;
}

function show(line: ProgressLine, { phase, writes, faults, broken }: Progress): void {
  if (phase !== 'traffic') return line.show(phase);
  const now = `now: ${broken.join(', ') || 'nothing broken'}`;
  line.show(`${writes} writes, ${faults} faults, ${now}`, now);
}
