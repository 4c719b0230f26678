import { describe, expect, it } from 'vitest';
import type { Answer, Version } from '../model/call.js';
import { made } from './records.js';
import { checkValues, undecidedValues } from './values.js';

type Stretch = readonly [from: number, until?: number];

const COUNTER = { on: 'counter', key: 'visits' } as const;
const VALUE = { on: 'value', key: 'limits' } as const;
const BARRIER = { on: 'barrier', key: 'gate' } as const;
const unknown = { outcome: 'unknown' } as const;
const findings = (...calls: ReturnType<typeof made>[]) => checkValues({ calls: calls as never });

describe('a counter', () => {
  const add = (at: Stretch, answer: Partial<Answer>) => made({ ...COUNTER, ask: 'add', delta: 1 }, at, answer);
  const get = (at: Stretch, answer: Partial<Answer>) => made({ ...COUNTER, ask: 'get' }, at, answer);

  it('counts each addition once', () => {
    const both = [add([0, 5], { value: 2, version: 1 }), add([1, 4], { value: 1, version: 0 })];
    expect(findings(...both, get([6, 7], { value: 2, version: 1 }))).toEqual([]);
    expect(findings(...both, get([6, 7], { value: 3, version: 2 }))).toHaveLength(1);
  });

  it('does not return the same number to two callers', () => {
    expect(findings(add([0, 5], { value: 1, version: 0 }), add([1, 4], { value: 1, version: 0 }))).toHaveLength(1);
  });

  it('may have counted an addition of unknown outcome, once', () => {
    const lost = add([0, 1], unknown);
    expect(findings(lost, get([2, 3], { value: 0, version: 'absent' }), get([8, 9], { value: 1, version: 0 }))).toEqual(
      [],
    );
    expect(findings(lost, get([2, 3], { value: 1, version: 0 }), get([8, 9], { value: 2, version: 1 }))).toHaveLength(
      1,
    );
    expect(
      findings(lost, get([2, 3], { value: 1, version: 0 }), get([8, 9], { value: 0, version: 'absent' })),
    ).toHaveLength(1);
  });

  it('must not have counted an addition that timed out', () => {
    expect(findings(add([0, 1], { outcome: 'timeout' }), get([2, 3], { value: 1, version: 0 }))).toHaveLength(1);
  });
});

describe('a value', () => {
  const set = (value: string, at: Stretch, answer: Partial<Answer> = {}) =>
    made({ ...VALUE, ask: 'set', value }, at, answer);
  const get = (value: string, version: Version, at: Stretch) => made({ ...VALUE, ask: 'get' }, at, { value, version });
  const swap = (seen: Version, value: string, at: Stretch, answer: Partial<Answer>) =>
    made({ ...VALUE, ask: 'compareAndSet', version: seen, value }, at, answer);

  it('is the last written one', () => {
    expect(findings(get('', 'absent', [0, 1]), set('a', [2, 3]), get('a', 0, [4, 5]))).toEqual([]);
    expect(findings(set('a', [2, 3]), get('', 'absent', [4, 5]))).toHaveLength(1);
  });

  it('is written by only one of several callers that saw the same version', () => {
    const one = swap('absent', 'a', [0, 5], { value: 'a', version: 0 });
    expect(findings(one, swap('absent', 'b', [0, 5], { outcome: 'nothing' }))).toEqual([]);
    expect(findings(one, swap('absent', 'b', [0, 5], { value: 'b', version: 0 }))).toHaveLength(1);
  });

  it('is not refused if no other write is possible', () => {
    expect(findings(set('a', [0, 1]), swap(0, 'b', [2, 3], { outcome: 'nothing' }))).toHaveLength(1);
    expect(findings(set('a', [0, 1]), set('c', [2], {}), swap(0, 'b', [2, 3], { outcome: 'nothing' }))).toEqual([]);
  });

  it('is the initial one again after it was removed', () => {
    const removed = made({ ...VALUE, ask: 'remove' }, [4, 5]);
    expect(
      findings(set('a', [0, 1]), removed, get('', 'absent', [6, 7]), set('b', [8, 9]), get('b', 0, [10, 11])),
    ).toEqual([]);
    expect(findings(set('a', [0, 1]), removed, get('a', 0, [6, 7]))).toHaveLength(1);
  });

  it('is separate for each key', () => {
    const other = made({ ...VALUE, key: 'other', ask: 'get' }, [4, 5], { value: '', version: 'absent' });
    expect(findings(set('a', [0, 1]), other)).toEqual([]);
  });
});

describe('a barrier', () => {
  const ask = (what: 'raise' | 'lift' | 'wait' | 'isUp', at: Stretch, answer: Partial<Answer> = {}) =>
    made({ ...BARRIER, ask: what }, at, answer);

  it('is passed by nobody while it is up', () => {
    expect(findings(ask('raise', [0, 1]), ask('wait', [2, 3]))).toHaveLength(1);
    expect(findings(ask('raise', [0, 1]), ask('lift', [2, 3]), ask('wait', [4, 5]))).toEqual([]);
  });

  it('may be passed while it is raised or lifted, or if that is unknown', () => {
    expect(findings(ask('raise', [0, 4]), ask('wait', [2, 3]))).toEqual([]);
    expect(findings(ask('raise', [0, 1], unknown), ask('wait', [2, 3]))).toEqual([]);
    expect(findings(ask('raise', [0, 1]), ask('lift', [2, 9]), ask('wait', [2, 3]))).toEqual([]);
    expect(findings(ask('raise', [0, 1]), ask('lift', [2]), ask('wait', [50, 51]))).toEqual([]);
  });

  it('is not up by itself after it was lifted', () => {
    const lifted = [ask('raise', [0, 1]), ask('lift', [2, 3])];
    expect(findings(...lifted, ask('isUp', [4, 5], { value: true }))).toHaveLength(1);
    expect(findings(...lifted, ask('isUp', [4, 5], { value: false }))).toEqual([]);
  });

  it('is unknown after a wait that timed out', () => {
    expect(findings(ask('wait', [0, 9], { outcome: 'timeout' }), ask('isUp', [10, 11], unknown))).toEqual([]);
  });
});

it('counts the undecided values', () => {
  expect(undecidedValues({ calls: [] })).toBe(0);
});
