import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { linearize } from './linearizability.js';
import type { Operation, Specification } from './linearizability.js';

/**
 * An operation on a register of one number with compare-and-set, and a counter. With `answer: undefined`, its outcome
 * is unknown.
 */
interface Deed {
  readonly ask: 'read' | 'write' | 'swap' | 'add';
  readonly value: number;
  readonly expected?: number;
  readonly answer: number | boolean | undefined;
}

const REGISTER: Specification<number, Deed> = {
  initial: 0,
  textOf: String,
  isRead: ({ ask }) => ask === 'read',
  apply(state, { ask, value, expected, answer }) {
    if (ask === 'read') return answer === undefined || answer === state ? state : undefined;
    if (ask === 'write') return value;
    if (ask === 'add') return answer === undefined || answer === state + value ? state + value : undefined;
    const isSwapped = state === expected;
    if (answer !== undefined && answer !== isSwapped) return undefined;
    return isSwapped ? value : state;
  },
};

const at = (from: number, until: number, what: Partial<Deed> & Pick<Deed, 'ask'>): Operation<Deed> => ({
  what: { value: 0, answer: 0, ...what },
  from,
  until,
});
const verdict = (...operations: Operation<Deed>[]) => linearize(operations, REGISTER).is;

describe('a linearizable history', () => {
  it('may have calls one after another', () => {
    expect(verdict(at(0, 1, { ask: 'write', value: 5 }), at(2, 3, { ask: 'read', answer: 5 }))).toBe('linearizable');
  });

  it('may have overlapping calls that can be put in order', () => {
    const operations = [
      at(0, 10, { ask: 'write', value: 5 }),
      at(1, 2, { ask: 'read', answer: 0 }),
      at(3, 4, { ask: 'read', answer: 5 }),
    ];
    expect(verdict(...operations)).toBe('linearizable');
  });

  it('may read a write of unknown outcome long after it', () => {
    const unknown = at(0, Infinity, { ask: 'write', value: 5, answer: undefined });
    expect(verdict(unknown, at(1, 2, { ask: 'read', answer: 0 }), at(50, 51, { ask: 'read', answer: 5 }))).toBe(
      'linearizable',
    );
  });

  it('may never read a write of unknown outcome', () => {
    const unknown = at(0, Infinity, { ask: 'write', value: 5, answer: undefined });
    expect(verdict(unknown, at(1, 2, { ask: 'read', answer: 0 }))).toBe('linearizable');
  });
});

describe('a history that is not linearizable', () => {
  it('reads a value that was overwritten', () => {
    const operations = [at(0, 1, { ask: 'write', value: 5 }), at(2, 3, { ask: 'read', answer: 0 })];
    expect(linearize(operations, REGISTER)).toEqual({ is: 'impossible', at: operations[1] });
  });

  it('has two reads that see a concurrent write come and go', () => {
    const operations = [
      at(0, 10, { ask: 'write', value: 5 }),
      at(1, 2, { ask: 'read', answer: 5 }),
      at(3, 4, { ask: 'read', answer: 0 }),
    ];
    expect(verdict(...operations)).toBe('impossible');
  });

  it('counts an addition of unknown outcome twice', () => {
    const unknown = at(0, Infinity, { ask: 'add', value: 1, answer: undefined });
    expect(verdict(unknown, at(1, 2, { ask: 'read', answer: 1 }))).toBe('linearizable');
    expect(verdict(unknown, at(1, 2, { ask: 'read', answer: 2 }))).toBe('impossible');
  });

  it('has a write of unknown outcome that takes effect before its call', () => {
    expect(verdict(at(1, 2, { ask: 'read', answer: 5 }), at(3, Infinity, { ask: 'write', value: 5 }))).toBe(
      'impossible',
    );
  });

  it('has two successful swaps of the same value', () => {
    const swap = (value: number) => at(0, 5, { ask: 'swap', expected: 0, value, answer: true });
    expect(verdict(swap(1), swap(2))).toBe('impossible');
    expect(verdict(swap(1), at(0, 5, { ask: 'swap', expected: 0, value: 2, answer: false }))).toBe('linearizable');
  });
});

describe('the search', () => {
  it('is undecided when it has examined too many configurations', () => {
    const adds = Array.from({ length: 10 }, (_, n) => at(n, 100, { ask: 'add', value: 2 ** n, answer: undefined }));
    expect(linearize(adds, REGISTER, 50).is).toBe('undecided');
  });

  it('agrees with trying every order of every subset', () => {
    const verdicts = new Map([true, false].map((verdict) => [verdict, 0]));
    fc.assert(
      fc.property(history(), (operations) => {
        const isLinearizable = isExplained(operations);
        verdicts.set(isLinearizable, verdicts.get(isLinearizable)! + 1);
        expect(linearize(operations, REGISTER).is === 'linearizable').toBe(isLinearizable);
      }),
      { numRuns: 3_000 },
    );
    // Histories of only one kind would show nothing.
    expect(Math.min(...verdicts.values())).toBeGreaterThan(300);
  });
});

/** Up to six calls in random intervals, with small numbers, so that many answers are right by chance. */
function history(): fc.Arbitrary<Operation<Deed>[]> {
  const small = fc.integer({ min: 0, max: 2 });
  const deed = fc.oneof(
    fc.record({ ask: fc.constant('read' as const), value: fc.constant(0), answer: small }),
    fc.record({ ask: fc.constant('write' as const), value: small, answer: fc.constant(0) }),
    fc.record({ ask: fc.constant('add' as const), value: fc.constant(1), answer: small }),
    fc.record({ ask: fc.constant('swap' as const), value: small, expected: small, answer: fc.boolean() }),
  );
  const operation = fc
    .record({
      what: deed,
      from: fc.integer({ min: 0, max: 12 }),
      length: fc.integer({ min: 0, max: 8 }),
      isKnown: fc.integer({ min: 0, max: 3 }),
    })
    .map(({ what, from, length, isKnown }): Operation<Deed> =>
      isKnown > 0
        ? { what, from, until: from + length }
        : { what: { ...what, answer: undefined }, from, until: Infinity },
    );
  return fc.array(operation, { minLength: 1, maxLength: 6 });
}

/** Answers the same question by trying: the remaining operations take effect in any order that the intervals allow. */
function isExplained(operations: readonly Operation<Deed>[], state = 0): boolean {
  if (operations.every(({ until }) => until === Infinity)) return true;
  const firstReturn = Math.min(...operations.map(({ until }) => until));
  return operations.some((operation) => {
    if (operation.from > firstReturn) return false;
    const next = REGISTER.apply(state, operation.what);
    return (
      next !== undefined &&
      isExplained(
        operations.filter((other) => other !== operation),
        next,
      )
    );
  });
}
