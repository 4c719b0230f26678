import { describe, expect, it } from 'vitest';
import type { Contender } from '../model/history.js';
import { checkFifo } from './fifo.js';

const one = (order: number, special: Partial<Contender>): Contender => ({
  key: 'k',
  mode: 'exclusive',
  session: `s${order}`,
  order,
  ...special,
});
const findings = (...contenders: Contender[]) => checkFifo({ contenders });

describe('a wait queue', () => {
  it('is granted in its order', () => {
    expect(findings(one(2, { grantedAt: 20 }), one(1, { grantedAt: 10 }))).toEqual([]);
    expect(findings(one(1, { grantedAt: 20 }), one(2, { grantedAt: 10 }))).toHaveLength(1);
  });

  it('must not be overtaken by a contender further behind', () => {
    expect(findings(one(1, { grantedAt: 20 }), one(2, { grantedAt: 30 }), one(3, { grantedAt: 15 }))).toHaveLength(1);
  });

  it('must not be overtaken while a contender waits that is never granted', () => {
    expect(findings(one(1, { goneAt: 20 }), one(2, { grantedAt: 10 }))).toHaveLength(1);
    expect(findings(one(1, { goneAt: 10 }), one(2, { grantedAt: 10 }))).toEqual([]);
  });

  it('may be overtaken when a contender is gone that is notified of its grant later', () => {
    expect(findings(one(1, { goneAt: 10, grantedAt: 20 }), one(2, { grantedAt: 10 }))).toEqual([]);
    expect(findings(one(1, { goneAt: 11, grantedAt: 20 }), one(2, { grantedAt: 10 }))).toHaveLength(1);
  });

  it('may be overtaken by a contender of the same session as one that gave up', () => {
    expect(findings(one(1, { session: 's', goneAt: 20 }), one(2, { session: 's', grantedAt: 10 }))).toEqual([]);
    const passed = one(1, { session: 's', grantedAt: 20 });
    expect(findings(passed, one(2, { session: 's', grantedAt: 10 }))).toHaveLength(1);
  });

  it('is not judged by a contender without a grant or an end', () => {
    expect(findings(one(1, {}), one(2, { grantedAt: 10 }))).toEqual([]);
  });

  it('may grant readers in any order', () => {
    expect(findings(one(1, { mode: 'read', grantedAt: 20 }), one(2, { mode: 'read', grantedAt: 10 }))).toEqual([]);
  });

  it('must not let a reader overtake a writer, or a writer a reader', () => {
    expect(findings(one(1, { mode: 'write', grantedAt: 20 }), one(2, { mode: 'read', grantedAt: 10 }))).toHaveLength(1);
    expect(findings(one(1, { mode: 'read', grantedAt: 20 }), one(2, { mode: 'write', grantedAt: 10 }))).toHaveLength(1);
  });

  it('includes readers that overtake a writer behind another reader', () => {
    const line = [
      one(1, { mode: 'read', grantedAt: 5 }),
      one(2, { mode: 'write', grantedAt: 20 }),
      one(3, { mode: 'read', grantedAt: 6 }),
    ];
    expect(findings(...line)).toHaveLength(1);
  });

  it('has an order of large numbers, and is separate for each key', () => {
    const large = 2n ** 60n;
    expect(
      findings({ ...one(1, { grantedAt: 20 }), order: large }, { ...one(2, { grantedAt: 10 }), order: large + 1n }),
    ).toHaveLength(1);
    expect(findings(one(1, { grantedAt: 20 }), one(2, { key: 'other', grantedAt: 10 }))).toEqual([]);
  });
});
