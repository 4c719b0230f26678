import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backoff } from '../../../lib/async/timer.js';

const LARGEST_RANDOM = 1 - Number.EPSILON;

const take = (count: number, pauses: { next(): number }) => Array.from({ length: count }, () => pauses.next());

describe('backoff', () => {
  it('doubles up to the cap', () => {
    expect(
      take(
        6,
        backoff(20, 200, () => LARGEST_RANDOM),
      ).map(Math.round),
    ).toEqual([20, 40, 80, 160, 200, 200]);
  });

  it('is reduced by at most half, at random', () => {
    expect(
      take(
        5,
        backoff(20, 200, () => 0),
      ),
    ).toEqual([10, 20, 40, 80, 100]);
  });

  it('stays between half of the first pause and the cap', () => {
    const delays = fc.tuple(fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: 1_000, max: 100_000 }));
    fc.assert(
      fc.property(delays, fc.integer({ min: 1, max: 2_000 }), ([firstMs, capMs], count) => {
        for (const ms of take(count, backoff(firstMs, capMs))) {
          expect(ms).toBeGreaterThanOrEqual(firstMs / 2);
          expect(ms).toBeLessThanOrEqual(capMs);
        }
      }),
      { numRuns: 20 },
    );
  });

  it('begins again when reset', () => {
    const pauses = backoff(20, 200, () => 0);
    take(5, pauses);
    pauses.reset();
    expect(pauses.next()).toBe(10);
  });

  it('is random by default', () => {
    const firsts = Array.from({ length: 50 }, () => backoff(1_000, 1_000).next());
    expect(new Set(firsts).size).toBeGreaterThan(1);
  });
});
