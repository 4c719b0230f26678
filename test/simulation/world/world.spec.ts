import { beforeEach, describe, expect, it } from 'vitest';
import { someProcess } from './some-process.js';
import { World } from './world.js';

let world: World;
let events: string[];

beforeEach(() => {
  world = new World();
  events = [];
});

const note = (name: string) => () => void events.push(`${name} at ${world.now}`);

describe('World', () => {
  it('runs actions at their time, and those of one instant in the order of planning', async () => {
    world.at(20, note('c'));
    world.at(10, note('a'));
    world.after(10, note('b'));
    await world.run(15);
    expect(events).toEqual(['a at 10', 'b at 10']);
    expect(world.now).toBe(15);
    // An action that is planned for the past happens now.
    world.at(3, note('late'));
    await world.run(100);
    expect(events.slice(2)).toEqual(['late at 15', 'c at 20']);
    expect(world.now).toBe(100);
  });

  it('ends as soon as `isOver` returns true', async () => {
    let isOver = false;
    world.at(10, () => (isOver = true));
    world.at(11, note('too much'));
    await world.run(100, () => isOver);
    expect(world.now).toBe(10);
    expect(events).toEqual([]);
  });

  it('has one run at a time', async () => {
    const first = world.run(10);
    await expect(world.run(20)).rejects.toThrow('time passes already');
    await first;
    expect(world.now).toBe(10);
  });

  it('completes the turn of one process before that of the next at one instant', async () => {
    const [one, other] = [someProcess(world, 'one'), someProcess(world, 'other')];
    for (const process of [one, other, one]) {
      process.deliver(() => {
        expect(world.running).toBe(process);
        events.push(process.name);
        void Promise.resolve().then(() => events.push(`${process.name}, woken`));
        process.setImmediate(() => events.push(`${process.name}, immediate`));
      });
    }
    await world.run(1);
    const turnOf = (name: string, times: number) => [
      ...Array.from({ length: times }, () => [name, `${name}, woken`]).flat(),
      ...Array.from({ length: times }, () => `${name}, immediate`),
    ];
    expect(events).toEqual([...turnOf('one', 2), ...turnOf('other', 1)]);
    expect(world.running).toBeUndefined();
    expect(world.callbacks).toBe(6);
  });

  it('delivers a message from one process to another within one instant', async () => {
    const [one, other] = [someProcess(world, 'one'), someProcess(world, 'other')];
    one.deliver(() => other.deliver(() => one.deliver(note('answered'))));
    await world.run(1);
    expect(events).toEqual(['answered at 0']);
  });

  it('fails if a callback throws', async () => {
    const process = someProcess(world);
    process.deliver(() => {
      throw new Error('on purpose');
    });
    await expect(world.run(1)).rejects.toThrow('on purpose');
  });

  it('continues after a callback throws if its process handles it', async () => {
    const [one, other] = [someProcess(world, 'one'), someProcess(world, 'other')];
    one.uncaught = (error) => {
      events.push(`${String(error)} at ${world.now}`);
      one.kill();
    };
    one.timers.set(
      () => {
        throw new Error('on purpose');
      },
      1,
      true,
    );
    one.deliver(() => one.setImmediate(note('before')));
    world.at(10_000, () => one.deliver(note('too much')));
    world.at(10_000, () => other.deliver(note('other')));
    await world.run(20_000);
    expect(events).toEqual(['before at 0', expect.stringMatching(/^Error: on purpose at 1\d\d\d$/), 'other at 10000']);
    expect(world.now).toBe(20_000);
  });

  it('continues after a promise of a callback throws if the process handles it', async () => {
    const process = someProcess(world);
    process.uncaught = (error) => void events.push(String(error));
    process.deliver(() => {
      process.setImmediate(note('next'));
      void Promise.resolve().then(() => world.uncaught(new Error('on purpose')));
    });
    await world.run(1);
    expect(events).toEqual(['Error: on purpose', 'next at 0']);
  });

  it('fails if a planned action throws, even if a process handles its own exceptions', async () => {
    const process = someProcess(world);
    process.uncaught = () => {};
    process.deliver(note('its turn'));
    world.at(1, () => {
      throw new Error('on purpose');
    });
    await expect(world.run(2)).rejects.toThrow('on purpose');
    expect(events).toEqual(['its turn at 0']);
  });

  it('rethrows exceptions while no run is under way', async () => {
    await world.run(1);
    expect(() => world.uncaught(new Error('on purpose'))).toThrow('on purpose');
  });

  it('fails when time stands still, and names the process', async () => {
    const process = someProcess(world, 'endless');
    process.uncaught = () => {};
    const again = () => void process.setImmediate(again);
    process.setImmediate(again);
    await expect(world.run(1)).rejects.toThrow('endless runs on at 0 µs without a timer: time does not pass');
  });
});
