import { describe, expect, it } from 'vitest';
import { parseOptions } from '../../../bench/options.js';

describe("the bench's options", () => {
  it('draw the charts of the documentation only when everything runs', () => {
    expect(parseOptions([]).charts).toBe('docs/bench');
    for (const args of [['--short'], ['--shape', '1x1'], ['--contender', 'ours']]) {
      expect(parseOptions(args).charts).toBe('build/bench/charts');
    }
    expect(parseOptions(['--short', '--charts', 'x']).charts).toBe('x');
  });

  it('are in seconds', () => {
    expect(parseOptions(['--seconds', '0.5', '--rounds', '3'])).toMatchObject({ rounds: 3, windowMs: 500 });
  });

  it('have no limit in time unless one is given, in minutes', () => {
    expect(parseOptions([]).limitMs).toBe(Infinity);
    expect(parseOptions(['--minutes', '30']).limitMs).toBe(1_800_000);
  });

  it('run one round with --short', () => {
    expect(parseOptions(['--short', '--rounds', '9']).rounds).toBe(1);
  });

  it.each([
    [['--shape', '5x5'], /no shape "5x5"/],
    [['--contender', 'nobody'], /no contender "nobody"/],
    [['--seconds', '0'], /--seconds must be a number above 0, not "0"/],
    [['--minutes', '0'], /--minutes must be a number above 0/],
    [['--rounds', 'x'], /--rounds must be/],
    [['--rounds', '1.5'], /--rounds must be a whole number/],
    [['--wrong'], /--wrong/],
  ])('name what is wrong with %j', (args, message) => {
    expect(() => parseOptions(args)).toThrow(message);
  });
});
