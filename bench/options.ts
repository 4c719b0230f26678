import { parseArgs } from 'node:util';
import { CONTENDERS } from './contenders/contenders.js';
import type { ContenderId } from './contenders/contender.js';
import { QUICK, SHAPES } from './shapes.js';

export interface BenchOptions {
  readonly rounds: number;
  readonly windowMs: number;
  readonly warmUpMs: number;
  /** The time for which idle sessions are observed before each window. */
  readonly idleMs: number;
  /** The time after which no further turn begins. */
  readonly limitMs: number;
  readonly isShort: boolean;
  /** Whether missed claims fail the run. */
  readonly isAsserting: boolean;
  /** The requested ones; all if none were requested. */
  readonly shapes: readonly string[];
  readonly contenders: readonly ContenderId[];
  /** The file of results, and the directory of charts. */
  readonly results: string;
  readonly charts: string;
}

/** The folder for charts and tables of a part of the shapes. */
export const PARTS = 'build/bench/charts';

export const USAGE = `npm run bench -- [options]
  --rounds 3           how often every contender has its turn at every shape
  --seconds 1          how long a turn is measured
  --warm-up 0.5        seconds before that; more for processes that are new, or more than processors
  --minutes 30         begins nothing after that time, and ends with 1 if not all was measured; no limit by default
  --shape 4x16         only this shape; may be repeated: ${SHAPES.map(({ id }) => id).join(' ')}
  --contender ours     only this one, and whom it is compared with; may be repeated: ${[...CONTENDERS.keys()].join(' ')}
  --quick              one round of what one caller in each of many processes does: three minutes
  --short              a fraction of a second each, with few callers: proves only that it runs
  --assert             ends with 1 also when a claim is missed, not only when tenures overlap or somebody fails
  --results FILE       default build/bench/locks.json
  --charts DIR         of charts and tables; default docs/bench when everything runs, else build/bench/charts`;

const SHORT = { rounds: 1, windowMs: 150, warmUpMs: 20, idleMs: 10 } as const;

/** @throws Error that says which argument is wrong */
export function parseOptions(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string' },
      seconds: { type: 'string', default: '1' },
      'warm-up': { type: 'string' },
      minutes: { type: 'string', default: 'Infinity' },
      shape: { type: 'string', multiple: true, default: [] },
      contender: { type: 'string', multiple: true, default: [] },
      quick: { type: 'boolean', default: false },
      short: { type: 'boolean', default: false },
      assert: { type: 'boolean', default: false },
      results: { type: 'string', default: 'build/bench/locks.json' },
      charts: { type: 'string' },
    },
  });
  const { quick: isQuick, short: isShort, assert: isAsserting, results } = values;
  const shapes = isQuick && values.shape.length === 0 ? [...QUICK.shapes] : values.shape;
  const contender = isQuick && values.contender.length === 0 ? [...QUICK.contenders] : values.contender;
  mustKnow(
    'shape',
    shapes,
    SHAPES.map(({ id }) => id),
  );
  mustKnow('contender', contender, [...CONTENDERS.keys()]);
  const contenders = contender as ContenderId[];
  const isAll = !isShort && shapes.length === 0 && contenders.length === 0;
  const times = {
    rounds: wholeRounds(values.rounds ?? (isQuick ? '1' : '3')),
    windowMs: 1_000 * positive('seconds', values.seconds),
    warmUpMs: 1_000 * positive('warm-up', values['warm-up'] ?? (isQuick ? '0.2' : '0.5')),
    idleMs: 300,
    limitMs: 60_000 * positive('minutes', values.minutes),
  };
  const charts = values.charts ?? (isAll ? 'docs/bench' : PARTS);
  return { ...times, ...(isShort ? SHORT : {}), isShort, isAsserting, shapes, contenders, results, charts };
}

function mustKnow(what: string, given: readonly string[], known: readonly string[]): void {
  const unknown = given.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`no ${what} "${unknown}"\n${USAGE}`);
}

function wholeRounds(text: string): number {
  const rounds = positive('rounds', text);
  if (!Number.isInteger(rounds)) throw new Error(`--rounds must be a whole number, not "${text}"\n${USAGE}`);
  return rounds;
}

function positive(name: string, text: string): number {
  const number = Number(text);
  if (!(number > 0)) throw new Error(`--${name} must be a number above 0, not "${text}"\n${USAGE}`);
  return number;
}
