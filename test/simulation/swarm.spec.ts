import { expect, it } from 'vitest';
import { drawPlan } from './plan/draw-plan.js';
import { FAULT_KINDS } from './plan/plan.js';
import type { Examined, PlanOfTraffic } from './search/examine.js';
import { Replays } from './search/replays.js';
import { Searchers } from './search/searchers.js';
import { bundleAll } from './search/zookeeper-backend.js';

/**
 * The seeds are the same in every run of the tests; `npm run simulate` uses others. They are more than an hour of the
 * cluster.
 */
const SEEDS = 32;
const SECONDS = 200;
const REPLAY_EVERY = 8;
const PROCESSES = 2;
const HOUR_MS = 3_600_000;
const LIMIT_MS = 1_200_000;

/** The minimum numbers of entries of all seeds together, so that a run without findings is meaningful. */
const SUBSTANCE: Readonly<Record<string, number>> = {
  held: 5_000,
  'answered granted': 3_000,
  'answered timeout': 500,
  'answered not this time': 1_000,
  'ended lost': 20,
  'returned done': 3_000,
  'returned unknown': 10,
  run: 50,
};

it(
  'more than an hour of a cluster under faults breaks no promise, and is repeatable',
  { timeout: LIMIT_MS },
  async () => {
    const replays = new Replays(REPLAY_EVERY);
    const runs: Examined[] = [];
    let drawn = 0;
    const next = () => replays.next() ?? (drawn < SEEDS ? drawPlan(++drawn, SECONDS) : undefined);
    const findings: string[] = [];
    const examined = (one: Examined, plan: PlanOfTraffic) => {
      const isFirst = !replays.isSecond(plan);
      const different = replays.examined(one, plan);
      if (isFirst) runs.push(one);
      for (const { check, message } of [...(isFirst ? one.findings : []), ...(different ? [different] : [])]) {
        findings.push(`npm run simulate -- --seconds ${SECONDS} --replay ${one.seed}: ${check}: ${message}`);
      }
    };
    await new Searchers(await bundleAll(), PROCESSES).examineAll(next, examined);
    expect(findings).toEqual([]);
    expect(runs).toHaveLength(SEEDS);
    expect(replays.compared).toBeGreaterThanOrEqual(SEEDS / REPLAY_EVERY);
    expectSubstance(runs);
  },
);

function expectSubstance(runs: readonly Examined[]): void {
  const total = (count: (one: Examined) => number) => runs.reduce((sum, one) => sum + count(one), 0);
  const times = (kind: string) => total(({ kinds }) => kinds[kind] ?? 0);
  expect(FAULT_KINDS.filter((kind) => times(`fault ${kind}`) === 0)).toEqual([]);
  for (const [kind, least] of Object.entries(SUBSTANCE)) expect(times(kind), kind).toBeGreaterThanOrEqual(least);
  // Each application connects at least once. All other connections are reconnections.
  expect(total(({ connections }) => connections)).toBeGreaterThan(500);
  expect(total(({ simulatedMs }) => simulatedMs)).toBeGreaterThan(HOUR_MS);
}
