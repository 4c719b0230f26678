/**
 * The long run: `npm run robustness -- [--backend name] [--seconds N] [--seed S] [--scenario name] [--keep]`. With
 * `--defect name` or `--defect all`, the same on a library with a planted defect, which has to be detected.
 */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { sharedNow } from './clock.js';
import { DEFECTS, defectNamed } from './defects/defects.js';
import type { Defect } from './defects/defects.js';
import { plant } from './defects/plant.js';
import { ProgressLine } from './report/progress-line.js';
import { failureOf, summaryOf, writeHistory } from './report/report.js';
import { conduct } from './scenarios/conduct.js';
import type { Progress } from './scenarios/conduct.js';
import type { Scenario } from './scenarios/scenario.js';
import { scenariosOn } from './scenarios/other-backends.js';
import { scenarioNamed } from './scenarios/scenarios.js';
import { BACKENDS } from './servers/servers.js';
import type { BackendName } from './servers/servers.js';
import type { Finding } from './validate/finding.js';
import { inShare } from './validate/substance.js';
import { validate } from './validate/validate.js';

const { values } = parseArgs({
  options: {
    backend: { type: 'string' },
    seconds: { type: 'string' },
    seed: { type: 'string' },
    scenario: { type: 'string' },
    defect: { type: 'string' },
    // Also keeps the histories of runs without findings.
    keep: { type: 'boolean' },
  },
});
const backend = backendNamed(values.backend ?? 'zookeeper');
const seconds = wholeNumber('seconds', values.seconds ?? '300');
const firstSeed = wholeNumber('seed', values.seed ?? String(randomInt(1_000_000)));
// A blocked wait queue is detected sooner than a busy machine without defects would need.
const DEFECT_FINAL_LIMIT_MS = 8_000;

const isSound = values.defect === undefined ? await findsNothing() : await findsAll(values.defect);
process.exitCode = isSound ? 0 : 1;

/** Runs all scenarios, then all again with the next seed, until the time is up. */
async function findsNothing(): Promise<boolean> {
  const { scenarios: all, leftOut } = scenariosOn(backend);
  for (const { name, why } of leftOut) console.log(`left out on ${backend}: ${name} (${why})`);
  const scenarios = values.scenario === undefined ? all : [scenarioNamed(values.scenario, all)];
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
  if (values.keep) writeHistory(history, findings);
  console.log(findings.length === 0 ? summaryOf(history) : failureOf(history, findings, length));
  return findings;
}

function backendNamed(name: string): BackendName {
  const backend = BACKENDS.find((one) => one === name);
  if (!backend) throw new Error(`no backend "${name}"; there are ${BACKENDS.join(', ')}`);
  return backend;
}

function wholeNumber(name: string, text: string): number {
  if (!/^\d+$/.test(text)) throw new Error(`--${name} must be a whole number, got "${text}"`);
  return Number(text);
}

function show(line: ProgressLine, { phase, writes, faults, broken }: Progress): void {
  if (phase !== 'traffic') return line.show(phase);
  const now = `now: ${broken.join(', ') || 'nothing broken'}`;
  line.show(`${writes} writes, ${faults} faults, ${now}`, now);
}
