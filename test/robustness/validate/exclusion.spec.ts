import { describe, expect, it } from 'vitest';
import type { Fault, Hold } from '../model/history.js';
import { SESSION_CLOSED } from './closed-sessions.js';
import { checkExclusion } from './exclusion.js';
import { fault, hold } from './records.js';

const findings = (holds: readonly Hold[], faults: readonly Fault[] = []) => checkExclusion({ holds, faults });

describe('exclusion', () => {
  it.each([
    ['exclusive', 'exclusive'],
    ['exclusive', 'write'],
    ['write', 'write'],
    ['write', 'read'],
    ['read', 'exclusive'],
  ] as const)('finds %s and %s at the same time', (one, other) => {
    const holds = [hold({ mode: one, from: 0, seenUntil: 10 }), hold({ mode: other, from: 9, seenUntil: 20 })];
    expect(findings(holds)).toEqual([
      { check: 'exclusion', message: expect.stringContaining('for 1.0 ms'), records: holds },
    ]);
  });

  it('finds a hold inside another, also with a third in between', () => {
    const long = hold({ from: 0, seenUntil: 100 });
    const holds = [long, hold({ mode: 'read', from: 120, seenUntil: 130 }), hold({ from: 50, seenUntil: 51 })];
    expect(findings(holds)).toHaveLength(1);
  });

  it('finds each of several overlaps', () => {
    const readers = [1, 2, 3].map((from) => hold({ mode: 'read', from, seenUntil: 10 }));
    expect(findings([...readers, hold({ mode: 'write', from: 5, seenUntil: 6 })])).toHaveLength(3);
  });

  it('finds two holds in one process', () => {
    expect(findings([hold({ process: 'a' }), hold({ process: 'a' })])).toHaveLength(1);
  });

  it('finds a hold that began during a stop, if the stopped process still believes', () => {
    const stopped = hold({ from: 0, seenUntil: 5_000 });
    expect(findings([stopped, hold({ from: 3_000, seenUntil: 3_010 })])).toHaveLength(1);
  });

  it('accepts a hold that a stopped process could not observe', () => {
    const stopped = hold({ from: 0, seenUntil: 1_000, end: 'lost' });
    expect(findings([stopped, hold({ from: 3_000, seenUntil: 3_010 })])).toEqual([]);
  });

  it('accepts concurrent readers, other keys, and successive holds', () => {
    const readers = [hold({ mode: 'read' }), hold({ mode: 'read' })];
    expect(findings([...readers, hold({ key: 'other' }), hold({ from: 10, seenUntil: 20 })])).toEqual([]);
  });

  describe('with a session that was closed on purpose', () => {
    const holds = [hold({ process: 'a', from: 0, seenUntil: 30 }), hold({ process: 'b', from: 21, seenUntil: 25 })];
    const closed = (special: Partial<Fault>) =>
      fault({ name: SESSION_CLOSED, target: 'a', from: 20, until: 22, ...special });

    it('excuses the holder that could not know', () => {
      expect(findings(holds, [closed({})])).toEqual([]);
    });

    it('excuses no other holder, time or fault', () => {
      const others = [closed({ target: 'c' }), closed({ from: 31, until: 32 }), closed({ name: 'black hole' })];
      expect(findings(holds, others)).toHaveLength(1);
    });
  });
});
