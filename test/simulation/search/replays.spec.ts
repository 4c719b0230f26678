import { beforeAll, describe, expect, it } from 'vitest';
import { drawPlan } from '../plan/draw-plan.js';
import { examine } from './examine.js';
import type { Examined, PlanOfTraffic } from './examine.js';
import { Replays } from './replays.js';
import { Searchers } from './searchers.js';
import { somePlan, someRun } from './some-plans.js';
import { bundleAll, zookeeperBackend } from './zookeeper-backend.js';
import type { Code } from './zookeeper-backend.js';

const SECONDS = 5;

describe('Replays', () => {
  it('runs every n-th plan again, and reports those that differ', () => {
    const replays = new Replays(2);
    const plans = [1, 2, 3].map((seed) => somePlan(seed)) as [PlanOfTraffic, PlanOfTraffic, PlanOfTraffic];
    for (const plan of plans) expect(replays.examined(someRun(plan.seed), plan)).toBeUndefined();
    expect(plans.map((plan) => replays.isSecond(plan))).toEqual([true, false, true]);
    const [again, too] = [replays.next(), replays.next()];
    expect([again, too, replays.next()]).toEqual([plans[0], plans[2], undefined]);
    expect(replays.examined(someRun(1), plans[0])).toBeUndefined();
    expect(replays.examined(someRun(3, { hash: 'another one' }), plans[2])).toMatchObject({
      check: 'replay',
      message: 'seed 3 was not the same the second time: hash of 3 and another one',
    });
    expect(replays.compared).toBe(2);
  });

  it('runs none again with 0', () => {
    const replays = new Replays(0);
    const plan = somePlan(1);
    replays.examined(someRun(1), plan);
    expect(replays.next()).toBeUndefined();
    expect(replays.isSecond(plan)).toBe(false);
  });
});

describe('two runs of one plan', () => {
  let code: Code;
  beforeAll(async () => void (code = await bundleAll()));

  const plan = drawPlan(5, SECONDS);
  const isSame = ({ hash, simulatedMs, callbacks, holds }: Examined) => ({ hash, simulatedMs, callbacks, holds });

  it('are the same, even in another process, and differ from those of another plan', async () => {
    const backend = zookeeperBackend(code);
    const [first, other, second] = [
      await examine(plan, backend),
      await examine(drawPlan(6, SECONDS), backend),
      await examine(plan, backend, true),
    ];
    expect(first.examined.holds).toBeGreaterThan(0);
    expect(isSame(second.examined)).toEqual(isSame(first.examined));
    expect(other.examined.hash).not.toBe(first.examined.hash);
    const [elsewhere] = await examineElsewhere(code, [plan]);
    expect(isSame(elsewhere!)).toEqual(isSame(first.examined));
    expect(elsewhere!.reached).toEqual(first.examined.reached);
    expect(first.run.lines).toBeUndefined();
    expect(second.run.lines!.length).toBeGreaterThan(100);
  });

  // These programs see what a simulated process must not: the real clock, real random numbers, or the real process.
  it.each([
    ['the real chance', 'Function("return Math.random()")()'],
    ['the real time', 'Function("return performance.now()")()'],
    ['the real process', 'Function("return process.pid")()'],
  ])('differ if a program has %s, and that is reported', async (_name, glimpse) => {
    const edit = {
      file: 'zookeeper/recipes/contender-znode.js',
      replace: 'HOST = hostname()',
      by: `HOST = hostname() + ${glimpse}`,
    };
    const leaking = await bundleAll([edit]);
    const replays = new Replays(1);
    const [one] = await examineElsewhere(leaking, [plan]);
    const [other] = await examineElsewhere(leaking, [plan]);
    expect(replays.examined(one!, plan)).toBeUndefined();
    expect(replays.examined(other!, plan)).toMatchObject({ check: 'replay' });
  });
});

async function examineElsewhere(code: Code, plans: readonly PlanOfTraffic[]): Promise<Examined[]> {
  const [left, all] = [[...plans], [] as Examined[]];
  await new Searchers(code, 1).examineAll(
    () => left.shift(),
    (one) => all.push(one),
  );
  return all;
}
