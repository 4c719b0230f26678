import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  activeSegments,
  gathered,
  levelsAfter,
  mergeLevels,
  planTake,
  probingOrder,
  splitStock,
  unitsIn,
} from '../../../lib/stock/stock-plan.js';

const units = fc.integer({ min: 0, max: 40 });
const levels = fc.array(units, { minLength: 1, maxLength: 20 });
const quantity = fc.integer({ min: 1, max: 60 });
const first = fc.nat({ max: 19 });

describe('splitStock', () => {
  it('distributes every unit, as evenly as whole units can be', () => {
    fc.assert(
      fc.property(fc.nat({ max: 10_000 }), fc.integer({ min: 1, max: 64 }), (total, segments) => {
        const split = splitStock(total, segments);
        expect(split).toHaveLength(segments);
        expect(unitsIn(split)).toBe(total);
        expect(Math.max(...split) - Math.min(...split)).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('splits 300 coupons into three times a hundred', () => {
    expect(splitStock(300, 3)).toEqual([100, 100, 100]);
  });
});

describe('probingOrder', () => {
  it('has every segment once, beginning with the given one', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 64 }), fc.nat({ max: 63 }), (segments, start) => {
        const order = probingOrder(segments, start % segments);
        expect(order[0]).toBe(start % segments);
        expect([...order].sort((a, b) => a - b)).toEqual(Array.from({ length: segments }, (_, segment) => segment));
      }),
    );
    expect(probingOrder(4, 2)).toEqual([2, 3, 0, 1]);
  });
});

describe('planTake', () => {
  it('takes exactly the ordered units, each part from another segment that has them', () => {
    fc.assert(
      fc.property(levels, quantity, first, fc.boolean(), (known, wanted, start, split) => {
        const parts = planTake(known, wanted, { first: start % known.length, split });
        if (!parts) return;
        const after = levelsAfter(known, parts, -1);
        expect(parts.reduce((sum, part) => sum + part.units, 0)).toBe(wanted);
        expect(Math.min(...after)).toBeGreaterThanOrEqual(0);
        expect(parts.every((part) => part.units > 0)).toBe(true);
        expect(new Set(parts.map(({ segment }) => segment)).size).toBe(parts.length);
        expect(levelsAfter(after, parts, 1)).toEqual(known);
      }),
    );
  });

  it('fails only when units are missing, or when one segment must have all and none has', () => {
    fc.assert(
      fc.property(levels, quantity, first, fc.boolean(), (known, wanted, start, split) => {
        const isThere = split ? unitsIn(known) >= wanted : known.some((level) => level >= wanted);
        expect(planTake(known, wanted, { first: start % known.length, split }) !== undefined).toBe(isThere);
      }),
    );
  });

  it('takes from one segment when one has all, the first in the order', () => {
    fc.assert(
      fc.property(levels, quantity, first, (known, wanted, start) => {
        const order = probingOrder(known.length, start % known.length);
        const whole = order.find((segment) => (known[segment] ?? 0) >= wanted);
        const parts = planTake(known, wanted, { first: start % known.length, split: true });
        if (whole !== undefined) expect(parts).toEqual([{ segment: whole, units: wanted }]);
        else expect(parts?.length ?? 2).toBeGreaterThan(1);
      }),
    );
  });

  it('splits over as few segments as possible', () => {
    expect(planTake([3, 1, 5, 2], 7, { first: 0, split: true })).toEqual([
      { segment: 2, units: 5 },
      { segment: 0, units: 2 },
    ]);
  });

  it('finds no units in an empty stock', () => {
    expect(planTake([], 1, { first: 0, split: true })).toBeUndefined();
    expect(planTake([0, 0], 1, { first: 1, split: true })).toBeUndefined();
  });
});

describe('gathering', () => {
  it('keeps every unit, and makes the same order one of fewer segments', () => {
    fc.assert(
      fc.property(levels, quantity, first, fc.integer({ min: 2, max: 5 }), (known, wanted, start, most) => {
        const route = { first: start % known.length, split: true };
        const parts = planTake(known, wanted, route) ?? [];
        if (parts.length < 2) return;
        const after = gathered(known, parts.slice(0, most));
        expect(unitsIn(after)).toBe(unitsIn(known));
        expect(Math.min(...after)).toBeGreaterThanOrEqual(0);
        expect(planTake(after, wanted, route)?.length).toBeLessThanOrEqual(
          parts.length + 1 - Math.min(most, parts.length),
        );
      }),
    );
  });
});

describe('merging', () => {
  it('keeps every unit, in no more segments than before, each with enough units', () => {
    fc.assert(
      fc.property(levels, fc.integer({ min: 1, max: 12 }), (known, fewest) => {
        const merged = mergeLevels(known, fewest);
        const filled = merged.filter((level) => level > 0).length;
        expect(merged).toHaveLength(known.length);
        expect(unitsIn(merged)).toBe(unitsIn(known));
        expect(filled).toBeLessThanOrEqual(known.filter((level) => level > 0).length);
        expect(filled).toBeLessThanOrEqual(2 * activeSegments(unitsIn(known), known.length, fewest));
        expect(mergeLevels(merged, fewest)).toBe(merged);
      }),
    );
  });

  it('moves buyers to fewer and fewer segments as the stock falls, and seldom', () => {
    let known: readonly number[] = splitStock(160, 16);
    const counts: number[] = [];
    let merges = 0;
    while (unitsIn(known) > 0) {
      const segment = known.findIndex((level) => level === Math.max(...known));
      const after = levelsAfter(known, [{ segment, units: 1 }], -1);
      known = mergeLevels(after, 8);
      if (known !== after) merges++;
      counts.push(known.filter((level) => level > 0).length);
    }
    expect(counts).toEqual([...counts].sort((a, b) => b - a));
    expect([counts[0], counts.at(-2)]).toEqual([16, 1]);
    expect(merges).toBeLessThanOrEqual(4);
  });

  it('does not change a large stock, or one in a single segment', () => {
    const large = splitStock(1_000, 16);
    expect(mergeLevels(large, 8)).toBe(large);
    expect(activeSegments(1_000, 16, 8)).toBe(16);
    expect(activeSegments(0, 16, 8)).toBe(1);
  });
});
