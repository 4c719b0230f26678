import { beforeAll, describe, expect, it } from 'vitest';
import { defectNamed } from '../defects/defects.js';
import { Choices, readChoices } from './choices.js';
import { bundleSmall, examineSmall, replaySmall, smallBackend } from './examine.js';
import { explore } from './explore.js';
import { scenarioNamed } from './scenarios.js';
import type { Scenario } from './scenarios.js';
import { runSmall } from './small-run.js';
import type { SmallBackend } from './small-run.js';

const mutex = scenarioNamed('mutex');
const crashAnywhere: Scenario = { ...mutex, faults: ['crash'] };
const oneFault = { deviations: 0, faults: 1, deviationsWithFaults: 0 };
const oneDeviation = { deviations: 1, faults: 0, deviationsWithFaults: 0 };
const broken = async (name: string) => smallBackend(await bundleSmall(defectNamed(name).edits));

describe('the library', () => {
  let sound: SmallBackend;
  beforeAll(async () => {
    sound = smallBackend(await bundleSmall());
  });

  it('has no finding with two contenders of a mutex and one message out of order', async () => {
    const examined = await examineSmall(mutex, sound, oneDeviation);
    expect(examined.findings).toEqual([]);
    expect(examined.isComplete).toBe(true);
    expect(examined.states).toBeGreaterThan(300);
    expect(examined.granted).toBeGreaterThan(2 * examined.schedules);
  });

  it('has no finding with two contenders of a mutex and a crash at any point', async () => {
    const examined = await examineSmall(crashAnywhere, sound, oneFault);
    expect(examined.findings).toEqual([]);
    expect(examined.isComplete).toBe(true);
    expect(examined.schedules).toBeGreaterThan(50);
  });

  it('repeats the same run for the same choices', async () => {
    const choices = readChoices('5:1 20:1 40:1');
    const [one, other] = [await replaySmall(mutex, sound, choices), await replaySmall(mutex, sound, choices)];
    expect(one.findings).toEqual([]);
    expect(one.story).toEqual(other.story);
  });
});

describe('a defect', () => {
  it.each([
    ['second-in-line-takes-its-turn', mutex, oneDeviation, ['exclusion']],
    ['wake-up-is-taken-for-the-grant', { ...mutex, faults: ['reset'] }, oneFault, ['exclusion']],
    ['lost-create-is-made-again', { ...mutex, faults: ['reset', 'abandon'] }, oneFault, ['leftovers', 'liveness']],
  ] as const)('is found: %s', async (name, scenario, bounds, checks) => {
    const backend = await broken(name);
    const { findings } = await examineSmall(scenario, backend, bounds, (found) => found > 0);
    const [finding] = findings;
    expect(checks.some((check) => finding?.checks.includes(check))).toBe(true);
    const again = await replaySmall(scenario, backend, readChoices(finding?.choices ?? ''));
    expect(again.findings[0]?.message).toBe(finding?.message);
  });
});

describe('cutting runs short', () => {
  it('leaves out no state', async () => {
    const sound = smallBackend(await bundleSmall());
    const small: Scenario = { ...mutex, processes: scenarioNamed('local-line').processes, faults: ['crash'] };
    const bounds = { deviations: 1, faults: 1, deviationsWithFaults: 0 };
    const [cut, all] = [new Set<number>(), new Set<number>()];
    const some = await explore(bounds, async (choices) => {
      await runSmall(small, sound, choices, (state) => cut.add(state));
    });
    const every = await explore(bounds, async (choices) => {
      const free = new Choices(choices.given, bounds);
      await runSmall(small, sound, free, (state) => all.add(state));
      choices.open.push(...free.open);
    });
    expect(some.cut).toBeGreaterThan(0);
    expect(every.cut).toBe(0);
    expect(all.size).toBeGreaterThan(200);
    expect(cut).toEqual(all);
  });
});
