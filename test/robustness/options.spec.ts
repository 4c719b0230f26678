import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { OPTIONS, readOptions, USAGE } from './options.js';

const COMMAND = fileURLToPath(new URL('../../build/robustness/js/test/robustness/run.js', import.meta.url));
const runCommand = (...args: string[]) => promisify(execFile)(process.execPath, [COMMAND, ...args]);

describe('the options of npm run robustness', () => {
  it('are printed by --help, which runs nothing', async () => {
    expect(await runCommand('--seconds', '3600', '--help')).toEqual({ stdout: `${USAGE}\n`, stderr: '' });
  });

  it('are all in the text of --help, and only they', () => {
    const named = [...USAGE.matchAll(/--([a-z][\w-]*)/g)].map(([, name]) => name);
    expect(new Set(named)).toEqual(new Set(Object.keys(OPTIONS)));
  });

  it('have defaults', () => {
    expect(readOptions([])).toMatchObject({ backend: 'zookeeper', seconds: 300, keep: false });
    expect(readOptions([]).seed).not.toBeNaN();
    expect(readOptions([])).toMatchObject({ scenario: undefined, defect: undefined });
  });

  it.each([
    [['--backend', 'other'], 'no backend "other"; there are zookeeper, redis, etcd'],
    [['--seconds', 'many'], '--seconds must be a whole number, got "many"'],
    [['--seed', '1.5'], '--seed must be a whole number, got "1.5"'],
  ])('are refused by name: %j', (args, message) => {
    expect(() => readOptions(args)).toThrow(message);
  });
});
