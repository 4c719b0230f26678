import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { SCENARIOS } from './scenarios/scenarios.js';
import { BACKENDS } from './servers/servers.js';
import type { BackendName } from './servers/servers.js';

/** The options of `npm run robustness`. */
export interface RobustnessOptions {
  readonly backend: BackendName;
  readonly seconds: number;
  /** The first seed. */
  readonly seed: number;
  /** The name of the only scenario to run. */
  readonly scenario: string | undefined;
  /** The name of a planted defect, or `all`. */
  readonly defect: string | undefined;
  /** Whether the histories of runs without findings are kept as well. */
  readonly keep: boolean;
}

export const OPTIONS = {
  backend: { type: 'string', default: 'zookeeper' },
  seconds: { type: 'string', default: '300' },
  seed: { type: 'string' },
  scenario: { type: 'string' },
  defect: { type: 'string' },
  keep: { type: 'boolean', default: false },
} as const;

export const USAGE = `npm run robustness -- [options]

  --backend <name>      ${BACKENDS.join(', ')}. Default ${OPTIONS.backend.default}
  --seconds <number>    how long all scenarios run, one seed after the other. Default ${OPTIONS.seconds.default}
  --seed <number>       the first seed. Default: one of its own
  --scenario <name>     only this one: ${SCENARIOS.map(({ name }) => name).join(', ')}
  --defect <name>|all   looks for a defect that is planted in the library, for --seconds each
  --keep                keeps the histories of runs without findings as well

The last line is "N runs from seed S on, N with findings". The exit code is 0 without findings.
test/robustness/README.md says more.`;

/** @throws Error that names the wrong option */
export function readOptions(args: readonly string[]): RobustnessOptions {
  const { values } = parseArgs({ args: [...args], options: OPTIONS });
  return {
    backend: backendNamed(values.backend),
    seconds: wholeNumber('seconds', values.seconds),
    seed: wholeNumber('seed', values.seed ?? String(randomInt(1_000_000))),
    scenario: values.scenario,
    defect: values.defect,
    keep: values.keep,
  };
}

function backendNamed(name: string): BackendName {
  const backend = BACKENDS.find((one) => one === name);
  if (!backend) throw new Error(`no backend "${name}"; there are ${BACKENDS.join(', ')}`);
  return backend;
}

function wholeNumber(name: string, text: string): number {
  if (!/^\d+$/.test(text)) throw new Error(`--${name} must be a whole number, got "${text}"`);
  return Number(text);
}
