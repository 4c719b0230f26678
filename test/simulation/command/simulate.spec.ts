import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMPILED, OUTPUT } from '../places.js';

const RUN = join(COMPILED, 'test', 'simulation', 'run.js');

interface Ended {
  readonly exitCode: number;
  readonly lines: readonly string[];
  readonly errors: string;
}

/** Runs `npm run simulate` with these arguments. */
function simulate(words: string): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [RUN, ...words.split(' ')], (_error, out, errors) => {
      resolve({ exitCode: child.exitCode ?? -1, lines: out.trimEnd().split('\n'), errors });
    });
  });
}

describe('npm run simulate', () => {
  it('prints its options', async () => {
    const { exitCode, lines, errors } = await simulate('--help');
    expect([exitCode, errors]).toEqual([0, '']);
    expect(lines[0]).toBe('npm run simulate -- [options]');
  });

  it('ends with a line of hours, seeds and findings, and exits with 0 without findings', async () => {
    const { exitCode, lines } = await simulate(
      '--hours 0.001 --seconds 5 --scenario calm --replay-every 1 --processes 1',
    );
    expect(lines.at(-1)).toMatch(/^\d+\.\d simulated hours, [1-9]\d* seeds, 0 findings$/);
    expect(lines.at(-2)).toMatch(/ [1-9]\d* seeds run twice with the same history, /);
    expect(exitCode).toBe(0);
  });

  it('prints the story of a replayed seed, and writes all of it to a file', async () => {
    const { exitCode, lines } = await simulate('--replay 424242 --seconds 5 --scenario calm');
    expect(lines.at(-1)).toBe('0.0 simulated hours, 1 seeds, 0 findings (424242)');
    const file = join(OUTPUT, 'seed-424242.txt');
    expect(lines.at(-2)).toBe(`everything that happened is in ${file}`);
    expect(lines[0]).toMatch(/^ +ms app-1/);
    expect(existsSync(file)).toBe(true);
    expect(readFileSync(file, 'utf8')).toContain('commits ');
    expect(exitCode).toBe(0);
  });

  it('finds a planted defect, and prints its seed and checks', async () => {
    const { exitCode, lines } = await simulate(
      '--defect wake-up-is-taken-for-the-grant --hours 1 --seconds 60 --processes 1',
    );
    expect(lines.at(-1)).toMatch(/ [1-9]\d* findings$/);
    expect(lines.at(-2)).toBe('every defect was found');
    expect(lines.at(-3)).toMatch(/^found: wake-up-is-taken-for-the-grant, seed \d+, \d+\.\d s: .*exclusion/);
    expect(exitCode).toBe(0);
  });

  it('exits with 1 when a defect was not found', async () => {
    const { exitCode, lines } = await simulate('--defect no-slack-for-timers --hours 0.0001 --seconds 1 --processes 1');
    expect(lines.at(-2)).toBe('not found: no-slack-for-timers');
    expect(exitCode).toBe(1);
  });

  it('compares the runs of seeds with those on another Node.js', async () => {
    const { exitCode, lines } = await simulate(`--node ${process.execPath} --hours 0.001 --seconds 5`);
    expect(lines.at(-2)).toMatch(/^([1-9]\d*) of \1 seeds had the same history on both$/);
    expect(lines.at(-1)).toBe(`0.0 simulated hours, 1 seeds, 0 found something else on ${process.execPath}`);
    expect(exitCode).toBe(0);
  });

  it.each([
    ['--hours none', '--hours must be a number above 0, got "none"'],
    ['--scenario storm', 'there is no scenario "storm"'],
    ['--defect none', 'no defect "none"; there are '],
  ])('refuses %s', async (words, message) => {
    const { exitCode, errors } = await simulate(words);
    expect(errors).toContain(message);
    expect(exitCode).toBe(1);
  });
});
