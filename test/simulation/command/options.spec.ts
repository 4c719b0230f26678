import { describe, expect, it } from 'vitest';
import { scenarioNamed } from '../plan/scenarios.js';
import { OPTIONS, readOptions, USAGE } from './options.js';

describe('the options of npm run simulate', () => {
  it('have defaults', () => {
    expect(readOptions([])).toMatchObject({ hours: 10, seed: 1, seconds: 600, scenario: 'swarm', guided: false });
    expect(readOptions([]).processes).toBeGreaterThan(0);
    expect(readOptions([])).toMatchObject({ defect: undefined, replay: undefined, shrink: undefined, node: undefined });
  });

  it('are read from arguments', () => {
    const args = '--hours 0.5 --seed 0 --replay 7 --shrink 8 --guided --processes 3 --replay-every 0 --defect x';
    expect(readOptions(args.split(' '))).toMatchObject({
      hours: 0.5,
      seed: 0,
      replay: 7,
      shrink: 8,
      guided: true,
      processes: 3,
      replayEvery: 0,
      defect: 'x',
    });
  });

  it('are all in the text of --help, and only they', () => {
    const named = [...USAGE.matchAll(/--([a-z][\w-]*)/g)].map(([, name]) => name);
    expect(new Set(named)).toEqual(new Set(Object.keys(OPTIONS)));
  });

  it.each([
    [['--hours', 'many'], '--hours must be a number above 0, got "many"'],
    [['--hours', '0'], '--hours must be a number above 0, got "0"'],
    [['--seconds', 'Infinity'], '--seconds must be a number above 0, got "Infinity"'],
    [['--seed', '1.5'], '--seed must be a whole number, got "1.5"'],
    [['--seed=-1'], '--seed must be a whole number, got "-1"'],
    [['--replay', ''], '--replay must be a whole number, got ""'],
    [['--processes', 'two'], '--processes must be a whole number, got "two"'],
    [['--replay-every', 'x'], '--replay-every must be a whole number, got "x"'],
    [['--speed', '3'], "Unknown option '--speed'"],
    [['swarm'], "Unexpected argument 'swarm'"],
    [['--hours'], "Option '--hours <value>' argument missing"],
  ])('are refused by name when invalid: %s', (args, message) => {
    expect(() => readOptions(args)).toThrow(message);
  });

  it('must name an existing scenario', () => {
    expect(() => scenarioNamed('storm')).toThrow('there is no scenario "storm"; there are swarm, calm, ');
  });
});
