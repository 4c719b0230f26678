import { parseArgs } from 'node:util';
import { availableParallelism } from 'node:os';

/** The options of `npm run simulate`. */
export interface SimulateOptions {
  /** The number of simulated hours of the cluster. */
  readonly hours: number;
  readonly seed: number;
  /** The duration of one seed's traffic, in simulated seconds. */
  readonly seconds: number;
  readonly scenario: string;
  readonly defect: string | undefined;
  readonly replay: number | undefined;
  readonly shrink: number | undefined;
  /** The path of another Node.js, on which each seed runs as well. */
  readonly node: string | undefined;
  /** Whether plans that reached something new are changed and tried again. */
  readonly guided: boolean;
  readonly processes: number;
  /** Whether small scenarios run in every order, instead of large ones in some. */
  readonly exhaustive: boolean;
  /** The maximum number of deviations from the default order, in a run of a small scenario. */
  readonly deviations: number | undefined;
  /** The maximum number of faults in a run of a small scenario. */
  readonly faults: number | undefined;
  /** The choices of a run of a small scenario whose story is to be printed. */
  readonly choices: string | undefined;
  /** Every n-th seed runs a second time, in another process. */
  readonly replayEvery: number;
}

export const OPTIONS = {
  hours: { type: 'string', default: '10' },
  seed: { type: 'string', default: '1' },
  seconds: { type: 'string', default: '600' },
  scenario: { type: 'string' },
  defect: { type: 'string' },
  replay: { type: 'string' },
  shrink: { type: 'string' },
  node: { type: 'string' },
  guided: { type: 'boolean', default: false },
  exhaustive: { type: 'boolean', default: false },
  deviations: { type: 'string' },
  faults: { type: 'string' },
  choices: { type: 'string' },
  processes: { type: 'string', default: String(availableParallelism()) },
  'replay-every': { type: 'string', default: '20' },
} as const;

export const USAGE = `npm run simulate -- [options]

  --hours <number>           simulated hours of the cluster. Default 10
  --seed <number>            the first seed. Default 1
  --seconds <number>         the simulated seconds of one seed's traffic. Default 600
  --scenario <name>          swarm (default), calm, links, processes, servers, outside, backups
  --guided                   plans that reached something new are changed and tried again
  --replay <seed>            one seed, with its story
  --shrink <seed>            the smallest plan that still shows what the seed shows
  --defect <name>|all        looks for a defect that is planted in the library
  --node <path>              runs each seed on this Node.js as well, and compares
  --processes <number>       the seeds that run at once. Default: one for each core
  --replay-every <number>    every n-th seed runs twice. Default 20; 0: none

npm run simulate -- --exhaustive [options]      small scenarios, in every order

  --scenario <name>          default: all
  --deviations <number>|all  the most deviations from the default order
  --faults <number>          the most faults in a run
  --choices <list>           one run, with its story
  --defect <name>, --processes <number>

The last line is "N simulated hours, N seeds, N findings". The exit code is 0 without findings.
test/simulation/README.md and test/simulation/exhaustive/README.md say more.`;

/** @throws Error that names the wrong option */
export function readOptions(args: readonly string[]): SimulateOptions {
  const { values } = parseArgs({
    args: [...args],
    options: OPTIONS,
  });
  return {
    hours: positive('hours', values.hours),
    seed: whole('seed', values.seed),
    seconds: positive('seconds', values.seconds),
    scenario: values.scenario ?? (values.exhaustive ? 'all' : 'swarm'),
    defect: values.defect,
    replay: values.replay === undefined ? undefined : whole('replay', values.replay),
    shrink: values.shrink === undefined ? undefined : whole('shrink', values.shrink),
    node: values.node,
    guided: values.guided,
    processes: whole('processes', values.processes) || 1,
    exhaustive: values.exhaustive,
    deviations: values.deviations === 'all' ? Infinity : optional('deviations', values.deviations),
    faults: optional('faults', values.faults),
    choices: values.choices,
    replayEvery: whole('replay-every', values['replay-every']),
  };
}

function whole(name: string, text: string): number {
  if (!/^\d+$/.test(text)) throw new Error(`--${name} must be a whole number, got "${text}"`);
  return Number(text);
}

function optional(name: string, text: string | undefined): number | undefined {
  return text === undefined ? undefined : whole(name, text);
}

function positive(name: string, text: string): number {
  const number = Number(text);
  if (!(number > 0) || !Number.isFinite(number)) throw new Error(`--${name} must be a number above 0, got "${text}"`);
  return number;
}
