import { describe, expect, it } from 'vitest';
import type { Entry } from './entry.js';
import { readHistory } from './read-history.js';

const FACTS = { seed: 1, faults: [], ends: [], leftovers: [], finalsDue: 0, contenders: [] };
const GET = { on: 'counter', key: 'visits', ask: 'get' } as const;
const read = (...entries: [process: string, entry: Entry][]) =>
  readHistory(
    entries.map(([process, entry]) => ({ process, entry })),
    FACTS,
  );

describe('a history', () => {
  it('has the calls with their answers, and their positions in the record', () => {
    const { calls } = read(
      ['a', { what: 'call', id: 'a/1', at: 5, call: GET }],
      ['b', { what: 'call', id: 'b/1', at: 5, call: GET }],
      ['a', { what: 'return', id: 'a/1', at: 5, answer: { outcome: 'done', value: 3 } }],
    );
    expect(calls).toMatchObject([
      { process: 'a', calledAt: 5, returnedAt: 5, from: 0, until: 2, answer: { value: 3 } },
      { process: 'b', from: 1, until: Infinity },
    ]);
    expect(calls[1]).not.toHaveProperty('answer');
  });

  it('has a call that failed after its return as failed, with its first return time', () => {
    const { calls } = read(
      ['a', { what: 'call', id: 'a/1', at: 5, call: GET }],
      ['a', { what: 'return', id: 'a/1', at: 6, answer: { outcome: 'done' } }],
      ['a', { what: 'return', id: 'a/1', at: 9, answer: { outcome: 'failed', error: 'TypeError' } }],
    );
    expect(calls).toMatchObject([{ returnedAt: 6, until: 1, answer: { outcome: 'failed' } }]);
  });

  it('has the writes that the storage accepts, by the order of arrival', () => {
    const write = (hold: string, token: string): Entry => ({
      what: 'write',
      hold,
      at: 1,
      key: 'k',
      mode: 'write',
      token,
    });
    const { writes, answers } = read(['a', write('h1', '2')], ['b', write('h2', '1')]);
    expect(writes.map(({ token, accepted }) => [token, accepted])).toEqual([
      [2n, true],
      [1n, false],
    ]);
    expect(answers).toMatchObject([{ accepted: true }, { accepted: false }]);
  });

  it('has holds of every kind, runs, and mishaps', () => {
    const held = { what: 'held', at: 5, key: 'k', mode: 'exclusive', token: '7' } as const;
    const run = { what: 'run', id: 'r', at: 5, job: 'once', tick: 0, attempt: 1, token: '7' } as const;
    const history = read(
      ['a', { ...held, hold: 'h', kind: 'permits', permits: 2, call: 'a/1' }],
      ['a', { what: 'seen', seen: [['h', 8]] }],
      ['a', run],
      ['a', { what: 'ran', id: 'r', at: 9 }],
      ['a', { what: 'fault of the traffic', at: 9, text: 'TypeError' }],
    );
    expect(history.holds).toMatchObject([
      { process: 'a', kind: 'permits', permits: 2, call: 'a/1', seenUntil: 8, end: 'open' },
    ]);
    expect(history.runs).toMatchObject([{ process: 'a', tick: 0, token: 7n, from: 5, until: 9 }]);
    expect(history.mishaps).toEqual(['TypeError']);
  });
});
