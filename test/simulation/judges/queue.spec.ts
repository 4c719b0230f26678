import { describe, expect, it } from 'vitest';
import type { Answer } from '../model/call.js';
import { SESSION_CLOSED } from '../../robustness/validate/closed-sessions.js';
import { fault } from '../../robustness/validate/records.js';
import { checkQueues } from './queue.js';
import { made } from './records.js';

type Stretch = readonly [from: number, until?: number];

const CLAIM_MS = 20;
const ON = { on: 'queue', key: 'letters' } as const;
const put = (values: string, at: Stretch, answer: Partial<Answer> = {}) =>
  made({ ...ON, ask: 'put', values: values.split(' ') }, at, answer);
const take = (values: string, at: Stretch, answer: Partial<Answer> = {}) => {
  const items = values === '' ? [] : values.split(' ').map((value) => ({ id: `id of ${value}`, value, token: '1' }));
  return made({ ...ON, ask: 'take', atMost: 5 }, at, { items, ...answer });
};
const ack = (value: string, at: Stretch, answer: Partial<Answer> = {}, token = '1') =>
  made({ ...ON, ask: 'ack', value, token }, at, answer);
const empty = (at: Stretch, value = 0) => made({ ...ON, ask: 'size' }, at, { value });
const findings = (...calls: ReturnType<typeof made>[]) => checkQueues({ calls: calls as never }, CLAIM_MS);
const messages = (...calls: ReturnType<typeof made>[]) => findings(...calls).map(({ message }) => message);

describe('a put item', () => {
  it('is delivered and acknowledged', () => {
    expect(findings(put('a', [0, 1]), take('a', [2, 3]), ack('a', [4, 5]), empty([6, 7]))).toEqual([]);
  });

  it('must not get lost', () => {
    expect(messages(put('a', [0, 1]), empty([6, 7]))).toEqual(['"a" was put and never delivered']);
    expect(findings(put('a', [0, 1]), take('a', [2, 3]), empty([6, 7]))).toHaveLength(1);
  });

  it('may still be there while the queue is not empty', () => {
    expect(findings(put('a', [0, 1]), empty([6, 7], 1))).toEqual([]);
    expect(findings(put('a', [0, 9]), empty([6, 7]))).toEqual([]);
  });

  it('may be there or not if the outcome of its put is unknown', () => {
    expect(findings(put('a', [0, 1], { outcome: 'unknown' }), empty([6, 7]))).toEqual([]);
    expect(findings(put('a', [0]), take('a', [2, 3]), ack('a', [4, 5]), empty([6, 7]))).toEqual([]);
  });

  it('may be gone if the outcome of its acknowledgement is unknown', () => {
    const delivered = [put('a', [0, 1]), take('a', [2, 3])];
    expect(findings(...delivered, ack('a', [4, 5], { outcome: 'lost' }), empty([6, 7]))).toEqual([]);
    expect(findings(...delivered, ack('a', [4]), empty([6, 7]))).toEqual([]);
  });
});

describe('a delivered item', () => {
  it('must have been put before', () => {
    expect(findings(take('a', [2, 3]))).toHaveLength(1);
    expect(findings(put('a', [4, 5]), take('a', [2, 3]))).toHaveLength(1);
    expect(findings(put('a', [2, 5]), take('a', [1, 3]))).toEqual([]);
  });

  it('must not have been refused when it was put', () => {
    expect(findings(put('a', [0, 1], { outcome: 'timeout' }), take('a', [2, 3]))).toHaveLength(1);
  });

  it('is delivered again until it is acknowledged, and not after that', () => {
    const delivered = [put('a', [0, 1]), take('a', [2, 3])];
    expect(findings(...delivered, take('a', [4, 5]), ack('a', [6, 7]))).toEqual([]);
    expect(findings(...delivered, ack('a', [4, 5]), take('a', [6, 7]))).toHaveLength(1);
    expect(findings(...delivered, ack('a', [4, 7]), take('a', [6, 8]))).toEqual([]);
    expect(findings(...delivered, ack('a', [4, 5], { outcome: 'lost' }), take('a', [6, 7]))).toEqual([]);
  });

  it('is not delivered to another consumer before its acknowledgement', () => {
    const again = take('a', [4, 6], { items: [{ id: 'id of a', value: 'a', token: '2' }] });
    const delivered = [put('a', [0, 1]), take('a', [2, 3]), again];
    expect(findings(...delivered, ack('a', [4, 7]))).toHaveLength(1);
    expect(findings(...delivered, ack('a', [4, 7], { outcome: 'lost' }), ack('a', [7, 8], {}, '2'))).toEqual([]);
  });

  it('may be delivered after its acknowledgement if its put had not returned before', () => {
    expect(findings(put('a', [0, 20]), take('a', [2, 3]), ack('a', [4, 5]), take('a', [6, 7]))).toEqual([]);
    expect(findings(put('a', [0]), take('a', [2, 3]), ack('a', [4, 5]), take('a', [6, 7]))).toEqual([]);
  });

  it('may be acknowledged twice when the first claim was deleted by somebody else', () => {
    const process = 'a';
    const first = { ...take('a', [2, 3]), process };
    const again = take('a', [4, 6], { items: [{ id: 'id of a', value: 'a', token: '2' }] });
    const calls = [put('a', [0, 1]), first, again, { ...ack('a', [4, 8]), process }, ack('a', [6, 7], {}, '2')];
    const closed = (from: number, target = process) => [fault({ name: SESSION_CLOSED, target, from, until: from })];
    const found = (faults: ReturnType<typeof closed>) => checkQueues({ calls: calls as never, faults }, CLAIM_MS);
    expect(found(closed(3))).toEqual([]);
    expect(found(closed(1))).toHaveLength(1);
    expect(found(closed(9))).toHaveLength(1);
    expect(found(closed(3, 'b'))).toHaveLength(1);
  });

  it('has the same id each time', () => {
    const again = take('a', [4, 5], { items: [{ id: 'another', value: 'a', token: '2' }] });
    expect(findings(put('a', [0, 1]), take('a', [2, 3]), again)).toHaveLength(1);
  });
});

describe('the order of a queue', () => {
  const puts = [put('a', [0, 1]), put('b', [2, 3])];

  it('is that of the puts', () => {
    expect(findings(...puts, take('a', [4, 5]), take('b', [6, 7]))).toEqual([]);
    expect(findings(...puts, take('b', [4, 5]), take('a', [6, 7]))).toHaveLength(1);
  });

  it('is unknown for puts, or takes, at the same time', () => {
    expect(findings(put('a', [0, 3]), put('b', [1, 2]), take('b', [4, 5]), take('a', [6, 7]))).toEqual([]);
    expect(findings(...puts, take('b', [4, 6]), take('a', [5, 7]))).toEqual([]);
  });

  it('is that of the first deliveries', () => {
    expect(findings(...puts, take('a', [4, 5]), take('b', [6, 7]), take('a', [8, 9]))).toEqual([]);
  });

  it('is not violated by a consumer that took an item and got no reply', () => {
    const late = [take('b', [6, 7]), take('a', [9, 10])];
    expect(findings(...puts, take('', [4]), ...late)).toEqual([]);
    expect(findings(...puts, take('', [4, 5], { outcome: 'unknown' }), ...late)).toEqual([]);
    expect(findings(...puts, take('', [4, 5]), ...late)).toHaveLength(1);
  });

  it('is not violated by a concurrent take that gives up', () => {
    const late = [take('b', [6, 8]), take('a', [9, 10])];
    expect(findings(...puts, take('', [4, 7]), ...late)).toEqual([]);
    expect(findings(...puts, take('', [7, 9]), ...late)).toEqual([]);
    expect(findings(...puts, take('', [4, 7], { outcome: 'timeout', items: [] }), ...late)).toEqual([]);
    expect(findings(...puts, take('', [4, 5]), ...late)).toHaveLength(1);
    expect(findings(...puts, take('', [9, 11]), ...late)).toHaveLength(1);
  });

  it('is not excused by a consumer that died long before', () => {
    const late = [put('a', [100, 101]), put('b', [102, 103]), take('b', [106, 107]), take('a', [109, 110])];
    expect(findings(take('', [4]), ...late)).toHaveLength(1);
  });
});
