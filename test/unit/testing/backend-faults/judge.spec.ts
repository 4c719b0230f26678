import { describe, expect, it } from 'vitest';
import type { FaultHistory, RecordedHold, RecordedWait } from '../../../../lib/testing/backend-faults/fault-history.js';
import { violationsOf } from '../../../../lib/testing/backend-faults/judge.js';

const hold = (special: Partial<RecordedHold>): RecordedHold => {
  return { key: 'k', mode: 'exclusive', client: 'one', token: 1n, from: 0, seenUntil: 10, ...special };
};

const wait = (special: Partial<RecordedWait>): RecordedWait => {
  const usual = {
    key: 'k',
    mode: 'exclusive',
    client: 'one',
    askedAt: 0,
    isOrdered: true,
    outcome: 'granted',
  } as const;
  return { ...usual, queuedAt: 1, endedAt: 10, ...special };
};

const judged = (history: Partial<FaultHistory>) =>
  violationsOf({ holds: [], waits: [], writes: [], left: [], ...history });

describe('a history of holds', () => {
  it('is sound when one holds after the other, with larger tokens', () => {
    const holds = [hold({}), hold({ from: 11, seenUntil: 20, token: 2n, client: 'other' })];
    expect(judged({ holds })).toEqual([]);
  });

  it('must not have two believers, whatever the order of the records', () => {
    const holds = [hold({ from: 9, seenUntil: 20, token: 2n, client: 'other' }), hold({})];
    expect(judged({ holds })).toEqual([
      'one (exclusive, token 1) and other (exclusive, token 2) both held "k", for 1.0 ms',
    ]);
  });

  it('counts a believer that was seen at the very moment of a grant', () => {
    expect(judged({ holds: [hold({}), hold({ from: 10, token: 2n })] })).toHaveLength(1);
  });

  it('compares a belief with all that begin in it', () => {
    const holds = [hold({ seenUntil: 30 }), hold({ from: 5, token: 2n }), hold({ from: 20, seenUntil: 25, token: 3n })];
    expect(judged({ holds })).toHaveLength(2);
  });

  it('may have readers together, and no writer beside them', () => {
    const readers = [hold({ mode: 'read' }), hold({ mode: 'read', from: 5, token: 2n })];
    expect(judged({ holds: readers })).toEqual([]);
    expect(judged({ holds: [...readers, hold({ mode: 'write', from: 7, token: 3n })] })).toHaveLength(2);
  });

  it('may have holders of different keys', () => {
    expect(judged({ holds: [hold({}), hold({ key: 'l', from: 5 })] })).toEqual([]);
  });

  it('excuses a holder whose session was ended from outside', () => {
    expect(judged({ holds: [hold({ isEndedOutside: true }), hold({ from: 5, token: 2n })] })).toEqual([]);
  });

  it.each([1n, 0n])('must not have a token of %s after 1', (token) => {
    const holds = [hold({}), hold({ from: 11, client: 'other', token })];
    expect(judged({ holds })).toEqual([
      `"k": other (exclusive, token ${token}) was granted after one (exclusive, token 1)`,
    ]);
  });

  it('may have readers that begin in any order', () => {
    expect(judged({ holds: [hold({ mode: 'read', token: 2n }), hold({ mode: 'read', from: 5 })] })).toEqual([]);
  });
});

describe('a history of writes', () => {
  const write = (token: bigint, mode: RecordedHold['mode'] = 'exclusive') => ({ key: 'k', mode, client: 'one', token });

  it('must not have an older token after a newer one', () => {
    expect(judged({ writes: [write(1n), write(1n), write(2n)] })).toEqual([]);
    expect(judged({ writes: [write(2n), write(1n)] })).toHaveLength(1);
    expect(judged({ writes: [write(2n, 'read'), write(1n, 'read')] })).toEqual([]);
  });
});

describe('a history of waits', () => {
  it('must not have a wait that is overtaken by a later one', () => {
    const late = { askedAt: 2, queuedAt: 3, client: 'other' };
    expect(judged({ waits: [wait({}), wait({ ...late, endedAt: 12 })] })).toEqual([]);
    expect(judged({ waits: [wait({}), wait({ ...late, endedAt: 8 })] })).toHaveLength(1);
  });

  it('does not compare waits that may have lined up in any order', () => {
    const early = { askedAt: 0.5, queuedAt: 3, endedAt: 8 };
    expect(judged({ waits: [wait({}), wait(early)] })).toEqual([]);
    expect(judged({ waits: [wait({ queuedAt: undefined }), wait({ askedAt: 2, endedAt: 8 })] })).toEqual([]);
    expect(judged({ waits: [wait({ isOrdered: false }), wait({ askedAt: 2, endedAt: 8 })] })).toEqual([]);
  });

  it('must not have a wait without an end', () => {
    expect(judged({ waits: [wait({ outcome: undefined, endedAt: undefined })] })).toEqual([
      '"k": a request of one (exclusive) never ended',
    ]);
  });

  it('must not have an error that no promise mentions', () => {
    const error = new TypeError('no such thing');
    expect(judged({ waits: [wait({ outcome: 'failed', error })] })[0]).toMatch(/failed: TypeError: no such thing/);
    for (const outcome of ['refused', 'given up', 'unavailable'] as const) {
      expect(judged({ waits: [wait({ outcome })] })).toEqual([]);
    }
  });
});

it('nothing may be left behind', () => {
  expect(judged({ left: ['"k": waiting exclusive of one'] })).toEqual(['left behind: "k": waiting exclusive of one']);
});
