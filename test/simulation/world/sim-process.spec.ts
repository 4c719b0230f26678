import { beforeEach, describe, expect, it } from 'vitest';
import { Random } from '../../robustness/random.js';
import type { SimProcess } from './sim-process.js';
import { someProcess } from './some-process.js';
import { World } from './world.js';

const MS = 1_000;

let world: World;
let events: string[];

beforeEach(() => {
  world = new World();
  events = [];
});

const note = (name: string) => () => void events.push(`${name} at ${world.now / MS}`);
const after = (process: SimProcess, ms: number, callback: () => void) => process.timers.set(callback, ms, false);

describe('SimProcess', () => {
  it.each([0.98, 1, 1.02])('runs timers less than 1 ms early and at most 1 ms late, at rate %d', async (rate) => {
    const process = someProcess(world, 'one', { rate });
    const random = new Random('timers');
    const offs: number[] = [];
    const setOne = () => {
      const [setAt, delayMs] = [process.nowMs, random.int(1, 50)];
      after(process, delayMs, () => offs.push(process.nowMs - setAt - delayMs));
    };
    for (let count = 0; count < 500; count++) world.at(random.int(0, 1_000 * MS), () => process.deliver(setOne));
    await world.run(2_000 * MS);
    expect(offs).toHaveLength(500);
    expect(Math.min(...offs)).toBeGreaterThan(-1);
    expect(Math.min(...offs)).toBeLessThan(0);
    // A microsecond of the world may be a little more on the clock of the process.
    expect(Math.max(...offs)).toBeLessThan(1 + 2 * 0.001 * rate);
    expect(Math.max(...offs)).toBeGreaterThan(0.5);
  });

  it('runs callbacks of arrived data at once, in order', async () => {
    const process = someProcess(world);
    for (const [at, name] of [
      [5, 'a'],
      [5, 'b'],
      [7, 'c'],
    ] as const) {
      world.at(at * MS, () => process.deliver(note(name)));
    }
    await world.run(10 * MS);
    expect(events).toEqual(['a at 5', 'b at 5', 'c at 7']);
  });

  it('does not run while stopped, and then runs timers first on a clock that advanced', async () => {
    const process = someProcess(world);
    after(process, 10, () => events.push(`timer at ${Math.floor(process.nowMs)}`));
    world.at(1 * MS, () => process.stop(50 * MS));
    world.at(2 * MS, () => process.deliver(note('arrived')));
    await world.run(51 * MS - 1);
    expect(process.isStopped).toBe(true);
    expect(events).toEqual([]);
    await world.run(100 * MS);
    expect(events).toEqual(['timer at 51', 'arrived at 51']);
  });

  it('is stopped until the later end of two stops', async () => {
    const process = someProcess(world);
    world.at(0, () => process.stop(50 * MS));
    world.at(10 * MS, () => process.stop(5 * MS));
    world.at(10 * MS, () => process.deliver(note('arrived')));
    await world.run(100 * MS);
    expect(events).toEqual(['arrived at 50']);
  });

  it('does not see a suspension on its monotonic clock, from its first callback on', async () => {
    const process = someProcess(world);
    after(process, 100, () => events.push(`timer at ${Math.floor(process.nowMs)}`));
    world.at(10 * MS, () => process.suspend(1_000 * MS));
    world.at(20 * MS, () => process.deliver(() => events.push(`arrived at ${process.nowMs}, ${process.wallMs}`)));
    await world.run(2_000 * MS);
    expect(events).toEqual(['arrived at 10, 1010', 'timer at 100']);
  });

  it('is suspended for no longer than two overlapping suspensions together', async () => {
    const process = someProcess(world);
    world.at(10 * MS, () => process.suspend(100 * MS));
    world.at(50 * MS, () => process.suspend(20 * MS));
    world.at(60 * MS, () => process.suspend(100 * MS));
    await world.run(200 * MS);
    expect(process.nowMs).toBe(50);
  });

  it('has a monotonic clock that never goes back', async () => {
    const process = someProcess(world, 'one', { rate: 0.98 });
    const random = new Random('suspending');
    let last = 0;
    process.timers.set(
      () => {
        expect(process.nowMs).toBeGreaterThanOrEqual(last);
        last = process.nowMs;
      },
      3,
      true,
    );
    for (let count = 0; count < 50; count++) {
      world.at(random.int(0, 1_000 * MS), () => process.suspend(random.int(1, 60 * MS)));
      world.at(random.int(0, 1_000 * MS), () => process.stop(random.int(1, 30 * MS)));
    }
    await world.run(2_000 * MS);
    expect(last).toBeGreaterThan(300);
  });

  it('runs nothing after it is killed, even in the middle of a turn', async () => {
    const process = someProcess(world);
    after(process, 10, note('timer'));
    world.at(1 * MS, () => {
      process.deliver(() => {
        events.push('last');
        process.setImmediate(note('immediate'));
        process.kill();
      });
      process.deliver(note('arrived'));
    });
    world.at(2 * MS, () => process.deliver(note('later')));
    await world.run(100 * MS);
    expect(events).toEqual(['last']);
    expect(process.isDead).toBe(true);
  });

  it('is busy during each callback, so later arrivals wait', async () => {
    const process = someProcess(world, 'one', { callbackUs: 400 });
    world.at(1 * MS, () => {
      for (const name of ['a', 'b']) process.deliver(note(name));
    });
    world.at(1 * MS + 100, () => process.deliver(note('c')));
    await world.run(10 * MS);
    expect(events).toEqual(['a at 1', 'b at 1', 'c at 1.8']);
  });

  it('runs immediates that are set outside of a turn', async () => {
    const process = someProcess(world);
    const cleared = process.setImmediate(note('cleared'));
    process.setImmediate(note('immediate'));
    process.clearImmediate(cleared);
    await world.run(1 * MS);
    expect(events).toEqual(['immediate at 0']);
  });
});
