import { describe, expect, it } from 'vitest';
import { isDone, isOpen } from '../model/history.js';
import { made, run } from './records.js';

const GET = { on: 'counter', key: 'visits', ask: 'get' } as const;

describe('the records of specs', () => {
  it('have calls that returned with what they asked for by default', () => {
    expect(made(GET, [5, 7])).toMatchObject({
      calledAt: 5,
      returnedAt: 7,
      from: 5,
      until: 7,
      answer: { outcome: 'done' },
    });
    expect(isDone(made(GET, [5, 7]))).toBe(true);
    expect(made(GET, [5, 7], { outcome: 'unknown', error: 'x' }).answer).toEqual({ outcome: 'unknown', error: 'x' });
  });

  it('have calls that never returned if no end is given', () => {
    const call = made(GET, [5], { outcome: 'done' });
    expect(call).toMatchObject({ calledAt: 5, until: Infinity });
    expect([call.returnedAt, call.answer, isOpen(call)]).toEqual([undefined, undefined, true]);
  });

  it('belong to different processes by default', () => {
    const all = [made(GET, [0, 1]), made(GET, [0, 1]), run({}), run({})];
    expect(new Set(all.map(({ id }) => id))).toHaveProperty('size', all.length);
    expect(new Set(all.map(({ process }) => process))).toHaveProperty('size', all.length);
    expect(made(GET, [0, 1], {}, 'p').process).toBe('p');
    expect(run({ process: 'p' }).process).toBe('p');
  });
});
