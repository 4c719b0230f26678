import { describe, expect, it } from 'vitest';
import { Guide } from './guide.js';
import { somePlan, someRun } from './some-plans.js';

const SEEDS = Array.from({ length: 60 }, (_, seed) => seed);

describe('Guide', () => {
  it('keeps only plans that reached something new', () => {
    const guide = new Guide(true);
    expect(guide.change(1)).toBeUndefined();
    const [first, same, other] = [1, 2, 3].map((seed) => somePlan(seed, ['reset', 'freeze'], 60 + seed));
    guide.examined(someRun(1, { reached: [1, 2] }), first!);
    guide.examined(someRun(2, { reached: [2, 1] }), same!);
    guide.examined(someRun(3, { reached: [2, 3] }), other!);
    expect(guide.reached).toBe(3);
    const changed = SEEDS.map((seed) => guide.change(seed));
    expect(new Set(changed.map((plan) => plan?.seconds))).toEqual(new Set([undefined, first!.seconds, other!.seconds]));
  });

  it('changes faults, and keeps them in order of time and within the plan', () => {
    const guide = new Guide(true);
    const plan = somePlan(1, ['reset', 'freeze', 'hold']);
    guide.examined(someRun(1, { reached: [1] }), plan);
    const changed = SEEDS.flatMap((seed) => guide.change(seed) ?? []);
    expect(changed.length).toBeGreaterThan(20);
    expect(
      changed.filter(({ faults }) => JSON.stringify(faults) !== JSON.stringify(plan.faults)).length,
    ).toBeGreaterThan(changed.length / 2);
    expect(changed.some(({ seed, traffic }) => seed !== plan.seed && traffic.seed === seed)).toBe(true);
    for (const { faults, seconds, world } of changed) {
      const times = faults.map(({ atMs }) => atMs);
      expect(times).toEqual(times.toSorted((one, other) => one - other));
      expect(Math.max(0, ...times)).toBeLessThan(seconds * 1_000 + 1_000);
      expect(world).toEqual(plan.world);
    }
    expect(guide.change(7)).toEqual(guide.change(7));
  });

  it('keeps nothing if it is off', () => {
    const guide = new Guide(false);
    guide.examined(someRun(1, { reached: [1] }), somePlan(1));
    expect(SEEDS.map((seed) => guide.change(seed))).toEqual(SEEDS.map(() => undefined));
  });
});
