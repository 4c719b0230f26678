/** The long run: `npm run robustness -- [--seconds N] [--seed S] [--scenario name] [--keep]`. */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { sharedNow } from './clock.js';
import { ProgressLine } from './report/progress-line.js';
import { failureOf, summaryOf, writeHistory } from './report/report.js';
import { conduct } from './scenarios/conduct.js';
import type { Scenario } from './scenarios/scenario.js';
import { scenarioNamed, SCENARIOS } from './scenarios/scenarios.js';
import { validate } from './validate/validate.js';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string' },
    seed: { type: 'string' },
    scenario: { type: 'string' },
    // Keeps the histories of the runs in which nothing was wrong, too.
    keep: { type: 'boolean' },
  },
});
const seconds = wholeNumber('seconds', values.seconds ?? '300');
const firstSeed = wholeNumber('seed', values.seed ?? String(randomInt(1_000_000)));
const scenarios = values.scenario === undefined ? SCENARIOS : [scenarioNamed(values.scenario)];

const until = sharedNow() + seconds * 1_000;
let [runs, failures] = [0, 0];
// All scenarios, then all again with the next seed, until the time is up.
for (let seed = firstSeed; sharedNow() < until; seed++) {
  for (const scenario of scenarios) {
    if (sharedNow() >= until) break;
    runs++;
    if (!(await passes(scenario, seed))) failures++;
  }
}
console.log(`${runs} runs from seed ${firstSeed} on, ${failures} with findings`);
process.exitCode = failures === 0 && runs > 0 ? 0 : 1;

async function passes(scenario: Scenario, seed: number): Promise<boolean> {
  const line = new ProgressLine(`${scenario.name}, seed ${seed}`);
  const length = Math.ceil(Math.min(scenario.seconds, Math.max(5, (until - sharedNow()) / 1_000)));
  const history = await conduct(scenario, { seed, seconds: length, onProgress: (progress) => line.show(progress) });
  line.clear();
  const findings = validate(history, scenario.least);
  if (values.keep) writeHistory(history, findings);
  console.log(findings.length === 0 ? summaryOf(history) : failureOf(history, findings, length));
  return findings.length === 0;
}

function wholeNumber(name: string, text: string): number {
  if (!/^\d+$/.test(text)) throw new Error(`--${name} must be a whole number, got "${text}"`);
  return Number(text);
}
