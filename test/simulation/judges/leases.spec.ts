import { describe, expect, it } from 'vitest';
import { fault, hold } from '../../robustness/validate/records.js';
import { SESSION_CLOSED } from '../../robustness/validate/closed-sessions.js';
import { checkLeases, checkTerms } from './leases.js';

type Holds = Parameters<typeof hold>[0][];

const leases = (...holds: Holds) => checkLeases({ holds: holds.map((one) => hold(one)), faults: [] });
const terms = (...holds: Holds) =>
  checkTerms({ holds: holds.map((one) => hold({ kind: 'term', key: 'captain', ...one })), faults: [] });

describe('leases', () => {
  it.each([undefined, 'run', 'item'] as const)('of one key are not held at once: %s', (kind) => {
    expect(leases({ kind, token: 1n }, { kind, from: 5, token: 2n })).toHaveLength(1);
    expect(leases({ kind, token: 1n }, { kind, from: 10, seenUntil: 20, token: 2n })).toEqual([]);
  });

  it('have increasing tokens', () => {
    expect(leases({ token: 2n }, { from: 10, seenUntil: 20, token: 2n })).toHaveLength(1);
  });

  it('of different kinds are independent', () => {
    expect(leases({ token: 2n }, { kind: 'run', token: 1n }, { kind: 'permits', token: 1n })).toEqual([]);
  });

  describe('of a writer that continues as a reader', () => {
    const writer = { process: 'a', mode: 'write', token: 5n, from: 0, seenUntil: 10 } as const;
    const reader = { process: 'a', mode: 'read', isDowngraded: true, token: 5n, from: 10, seenUntil: 20 } as const;

    it('may have the same token', () => {
      expect(leases(writer, reader)).toEqual([]);
    });

    it('admit other readers, and no writer', () => {
      expect(leases(writer, reader, { mode: 'read', token: 6n, from: 12, seenUntil: 20 })).toEqual([]);
      expect(leases(writer, reader, { mode: 'write', token: 6n, from: 12, seenUntil: 20 })).toHaveLength(1);
    });
  });
});

describe('terms', () => {
  it('are not held by two processes at once', () => {
    expect(terms({ token: 1n, from: 0, seenUntil: 10 }, { token: 2n, from: 9, seenUntil: 20 })).toMatchObject([
      { check: 'terms' },
    ]);
  });

  it('have larger tokens than the ones before', () => {
    expect(terms({ token: 2n, from: 0, seenUntil: 5 }, { token: 1n, from: 9, seenUntil: 20 })).toHaveLength(1);
  });

  it('may be seen by several callers of one process', () => {
    const one = { process: 'a', token: 1n };
    expect(terms({ ...one, from: 0, seenUntil: 10 }, { ...one, from: 5, seenUntil: 20 })).toEqual([]);
    const other = { process: 'b', token: 2n, from: 15, seenUntil: 16 };
    expect(terms({ ...one, from: 0, seenUntil: 10 }, { ...one, from: 5, seenUntil: 20 }, other)).toHaveLength(1);
  });

  it('may overlap if a session was closed on purpose', () => {
    const holds = [
      hold({ kind: 'term', process: 'a', token: 1n, from: 0, seenUntil: 10 }),
      hold({ kind: 'term', process: 'b', token: 2n, from: 9, seenUntil: 20 }),
    ];
    const faults = [fault({ name: SESSION_CLOSED, target: 'a', from: 8, until: 9 })];
    expect(checkTerms({ holds, faults })).toEqual([]);
  });
});
