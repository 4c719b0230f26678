import { stat } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { someProcess } from './some-process.js';
import { World } from './world.js';

interface Timer {
  refresh(): unknown;
}

/** The functions of Node, or of a simulated process, that a program uses. */
interface Loop {
  setTimeout(callback: () => void, ms: number): Timer;
  setInterval(callback: () => void, ms: number): Timer;
  clear(timer: Timer): void;
  setImmediate(callback: () => void): unknown;
  clearImmediate(immediate: unknown): void;
  /** Runs the callback when data has arrived from outside. */
  arrive(callback: () => void): void;
  /** Keeps the process busy. */
  busy(ms: number): void;
}

type Program = (loop: Loop, print: (text: string) => () => void) => void;

const NODE: Loop = {
  setTimeout,
  setInterval,
  clear: (timer) => clearTimeout(timer as NodeJS.Timeout),
  setImmediate,
  clearImmediate: (immediate) => clearImmediate(immediate as NodeJS.Immediate),
  arrive: (callback) => stat('.', callback),
  busy: (ms) => {
    for (const until = performance.now() + ms; performance.now() < until;);
  },
};

/** Longer than any program takes in the simulation. */
const OVER_MS = 1_000;
/** The time within which superfluous lines would be printed. */
const REST_MS = 120;

/** Waits for the expected number of lines, and for superfluous ones. */
async function runForReal(program: Program, lines: number): Promise<string[]> {
  const printed: string[] = [];
  NODE.arrive(() => program(NODE, (text) => () => void printed.push(text)));
  await expect.poll(() => printed.length).toBeGreaterThanOrEqual(lines);
  await new Promise((resolve) => setTimeout(resolve, REST_MS));
  return printed;
}

async function runSimulated(program: Program, seed: number): Promise<string[]> {
  const world = new World();
  const process = someProcess(world, 'one', { seed });
  const { timers } = process;
  const printed: string[] = [];
  const loop: Loop = {
    setTimeout: (callback, ms) => timers.set(callback, ms, false),
    setInterval: (callback, ms) => timers.set(callback, ms, true),
    clear: (timer) => timers.clear(timer as ReturnType<typeof timers.set>),
    setImmediate: (callback) => process.setImmediate(callback),
    clearImmediate: (immediate) => process.clearImmediate(immediate as () => void),
    arrive: (callback) => process.deliver(callback),
    busy: (ms) => process.stop(ms * 1_000),
  };
  loop.arrive(() => program(loop, (text) => () => void printed.push(text)));
  await world.run(OVER_MS * 1_000);
  return printed;
}

/**
 * Programs that print the same on Node however slow the machine is. Node keeps timers of one delay in one list, and runs
 * all that are late in a row. A program therefore uses no delay that the test runner uses, too, such as 50 or 100.
 */
const PROGRAMS: Readonly<Record<string, Program>> = {
  'ticks, promises, immediates, timers': ({ setTimeout, setImmediate }, print) => {
    setTimeout(print('timer'), 0);
    setImmediate(print('immediate'));
    void Promise.resolve().then(print('promise'));
    process.nextTick(print('tick'));
    print('now')();
  },
  'the work that a callback wakes runs before the next callback': ({ setTimeout, setImmediate }, print) => {
    const waking = (name: string) => () => {
      print(name)();
      queueMicrotask(print(`${name}, microtask`));
      process.nextTick(() => {
        print(`${name}, tick`)();
        void Promise.resolve().then(print(`${name}, promise of the tick`));
      });
    };
    for (const name of ['immediate 1', 'immediate 2']) setImmediate(waking(name));
    for (const name of ['timer 1', 'timer 2']) setTimeout(waking(name), 103);
  },
  'an immediate of an immediate waits for the next round': ({ setImmediate, clearImmediate }, print) => {
    setImmediate(() => {
      print('first')();
      setImmediate(print('of the first'));
      clearImmediate(cleared);
    });
    setImmediate(print('second'));
    const cleared = setImmediate(print('cleared'));
  },
  'timers that are late run by the time they were due': ({ setTimeout, setImmediate, busy }, print) => {
    setTimeout(print('157'), 157);
    setTimeout(print('53'), 53);
    setTimeout(print('103'), 103);
    setImmediate(print('immediate'));
    busy(250);
  },
  'of one delay, all that are late run in a row': ({ setTimeout, busy }, print) => {
    setTimeout(print('due at 103'), 103);
    setTimeout(() => {
      setTimeout(print('103 later, due at 123'), 103);
      setTimeout(print('93 later, due at 113'), 93);
      busy(250);
    }, 20);
  },
  'timers, what has arrived, immediates': ({ setTimeout, setImmediate, arrive, busy }, print) => {
    const immediate = (name: string) => () => {
      print(name)();
      setImmediate(print(`immediate of ${name}`));
    };
    setTimeout(immediate('timer'), 53);
    arrive(immediate('arrived'));
    busy(200);
  },
  'an interval that is late runs once': ({ setInterval, clear, busy }, print) => {
    let count = 0;
    const interval = setInterval(() => {
      print(`interval ${++count}`)();
      if (count === 1) busy(200);
      if (count === 3) clear(interval);
    }, 53);
  },
  'cleared and refreshed': ({ setTimeout, clear, busy }, print) => {
    const refreshed = setTimeout(print('refreshed'), 53);
    const cleared = setTimeout(print('cleared'), 103);
    setTimeout(() => {
      print('first')();
      refreshed.refresh();
      clear(cleared);
      cleared.refresh();
    }, 10);
    setTimeout(print('before the refreshed one'), 53);
    busy(58);
  },
};

describe('the order of a simulated process is that of Node', () => {
  it.each(Object.entries(PROGRAMS))('%s', async (_name, program) => {
    const simulated = await runSimulated(program, 1);
    expect(simulated.length).toBeGreaterThan(1);
    for (const seed of [2, 3]) expect(await runSimulated(program, seed)).toEqual(simulated);
    expect(await runForReal(program, simulated.length)).toEqual(simulated);
  });
});
