import { describe, expect, it } from 'vitest';
import { failureOf, summaryOf } from '../report/report.js';
import { validate } from '../validate/validate.js';
import { conduct } from './conduct.js';
import { scenariosOn } from './other-backends.js';
import type { Scenario } from './scenario.js';
import { PLANTED, scenarioNamed, SHORT } from './scenarios.js';

const LIMIT_MS = 240_000;

/** Conducts a scenario. Returns a description of what is found, which is empty if nothing is. */
async function foundIn(scenario: Scenario, seed: number, seconds: number): Promise<string> {
  const history = await conduct(scenario, { seed, seconds });
  console.log(summaryOf(history));
  // Slow machines do less. It only matters that something was done.
  const findings = validate(history, { holds: 20, writes: 20, faults: Math.min(1, scenario.least.faults) });
  return findings.length > 0 ? failureOf(history, findings, seconds) : '';
}

describe('the promises hold', () => {
  it.each(SHORT)('in $scenario.name, seed $seed', { timeout: LIMIT_MS }, async ({ scenario, seed, seconds }) => {
    expect(await foundIn(scenario, seed, seconds)).toBe('');
  });

  it.each(['redis', 'etcd'] as const)('on %s', { timeout: LIMIT_MS }, async (backend) => {
    expect(await foundIn(scenarioNamed('everything', scenariosOn(backend).scenarios), 1, 7)).toBe('');
  });
});

const SEEDS = [1, 2, 3];

describe('a planted defect in a lock', () => {
  it.each(PLANTED)('is detected: $scenario.name', { timeout: LIMIT_MS }, async ({ scenario, seconds, finds }) => {
    const found = new Set<string>();
    // Whether a defect shows depends on the holders at the time of the fault.
    for (const seed of SEEDS) {
      const history = await conduct(scenario, { seed, seconds });
      validate(history, { holds: 1, writes: 1, faults: 0 }).forEach(({ check }) => found.add(check));
      if (found.has(finds)) break;
    }
    expect(found).toContain(finds);
  });
});
