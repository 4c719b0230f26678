import type { Answer, Call } from '../model/call.js';
import type { MadeCall, Run, SimulationHistory } from '../model/history.js';

/** Records for specs: defaults, with the given fields replaced. */
let count = 0;

/** A call in the given interval; done by default. */
export function made<C extends Call>(
  call: C,
  [from, until = Infinity]: readonly [from: number, until?: number],
  answer: Partial<Answer> = {},
  process = `p${++count}`,
): MadeCall<C> {
  const id = `call ${++count}`;
  const came: Partial<MadeCall<C>> =
    until === Infinity ? {} : { returnedAt: until, answer: { outcome: 'done', ...answer } };
  return { id, process, call, calledAt: from, from, until, ...came };
}

export function run(special: Partial<Run>): Run {
  const id = `run ${++count}`;
  return {
    id,
    process: `p${count}`,
    job: 'once',
    tick: 0,
    attempt: 1,
    token: BigInt(count),
    from: 0,
    until: 1,
    ...special,
  };
}

export const NOTHING: SimulationHistory = {
  seed: 1,
  holds: [],
  attempts: [],
  writes: [],
  answers: [],
  faults: [],
  finals: [],
  finalsDue: 0,
  ends: [],
  leftovers: [],
  warnings: [],
  calls: [],
  runs: [],
  contenders: [],
  mishaps: [],
};
