import { describe, expect, it } from 'vitest';
import { FAULT_KINDS } from '../plan/plan.js';
import type { PlanOfTraffic } from './examine.js';
import { shrink } from './shrink.js';
import { somePlan } from './some-plans.js';

const kindsOf = ({ faults }: PlanOfTraffic) => faults.map(({ kind }) => kind);

/** A plan in which everything is larger than necessary. */
function largePlan(): PlanOfTraffic {
  const plan = somePlan(1, [...FAULT_KINDS, ...FAULT_KINDS]);
  const { traffic, world } = plan;
  return {
    ...plan,
    world: { ...world, apps: 5, servers: 5, callbackUs: 400, clockRates: [1.02, 0.98, 1, 1.02, 1.02] },
    traffic: {
      ...traffic,
      programs: { locks: 3, queue: 2, stock: 1 },
      locks: { ...traffic.locks, kinds: { mutex: 3, read: 1 } },
    },
  };
}

describe('shrink', () => {
  it('finds the smallest plan that still shows the finding', async () => {
    let runs = 0;
    const seen: PlanOfTraffic[] = [];
    const shows = async (plan: PlanOfTraffic) => {
      runs++;
      const kinds = kindsOf(plan);
      const isCutOff = kinds.includes('cut-off') && kinds.indexOf('freeze', kinds.indexOf('hold')) > 0;
      return isCutOff && plan.world.apps >= 2 && (plan.traffic.programs.queue ?? 0) > 0;
    };
    const { world, traffic, ...smallest } = await shrink(largePlan(), shows, (plan) => seen.push(plan));
    expect(kindsOf({ world, traffic, ...smallest })).toEqual(['hold', 'freeze', 'cut-off']);
    expect(traffic.programs).toEqual({ queue: 1 });
    expect(Object.keys(traffic.locks.kinds)).toHaveLength(1);
    expect(world).toMatchObject({ apps: 2, servers: 3, callbackUs: 0, electionMs: [1, 1] });
    expect(new Set(world.clockRates)).toEqual(new Set([1]));
    expect(seen.length).toBeGreaterThan(5);
    expect(seen.every((plan) => kindsOf(plan).includes('freeze'))).toBe(true);
    expect(runs).toBeLessThan(500);
  });

  it('shortens the time to what is needed', async () => {
    const { seconds, faults } = await shrink(largePlan(), async (plan) => plan.seconds >= 10);
    expect(seconds).toBeGreaterThanOrEqual(10);
    expect(seconds).toBeLessThan(13);
    expect(faults).toEqual([]);
  });

  it('leaves a plan unchanged if no part can be left out', async () => {
    const plan = largePlan();
    expect(await shrink(plan, async () => false)).toBe(plan);
  });
});
