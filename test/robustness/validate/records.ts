import type { Attempt, Fault, Hold, ProcessEnd, RegisterWrite, WriteAnswer } from '../model/history.js';

/** Default records for specs, with the given special values. */
let count = 0;

export function hold(special: Partial<Hold>): Hold {
  const id = `hold ${++count}`;
  const usual = {
    process: `worker ${count}`,
    key: 'k',
    mode: 'exclusive',
    token: BigInt(count),
    end: 'released',
  } as const;
  return { id, ...usual, from: 0, seenUntil: 10, ...special };
}

export function attempt(special: Partial<Attempt>): Attempt {
  const id = `attempt ${++count}`;
  const usual = { process: 'worker 1', keys: ['k'], mode: 'exclusive', askedAt: 0, waitMs: 1_000 } as const;
  return { id, ...usual, answeredAt: 500, outcome: 'granted', ...special };
}

export function write(special: Partial<RegisterWrite>): RegisterWrite {
  return { hold: 'hold', key: 'k', mode: 'exclusive', token: 1n, accepted: true, ...special };
}

export function answer(special: Partial<WriteAnswer>): WriteAnswer {
  return { hold: 'hold', answeredAt: 5, accepted: true, ...special };
}

export function fault(special: Partial<Fault>): Fault {
  return { name: 'black hole', target: 'worker 1', from: 0, until: 10, ...special };
}

export function end(special: Partial<ProcessEnd>): ProcessEnd {
  return { process: 'worker 1', end: 'exited', exitCode: 0, output: '', ...special };
}
