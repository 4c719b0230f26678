import { describe, expect, it } from 'vitest';
import { median, quantile } from '../../../bench/support/statistics.js';
import { overlaps } from '../../../bench/support/tenures.js';

describe('the check of the benches that a lock works', () => {
  it('has nothing against tenures that follow each other, of each lock', () => {
    const one = [10, 0, 20].map((from) => ({ lock: 1, from, to: from + 10 }));
    const other = [5, 15].map((from) => ({ lock: 'b', from, to: from + 10 }));
    expect(overlaps([...one, ...other])).toBe(0);
    expect(overlaps([])).toBe(0);
  });

  it('counts those that begin before one is over, however long ago that began', () => {
    const tenures = [
      { lock: 1, from: 0, to: 100 },
      { lock: 1, from: 10, to: 20 },
      { lock: 1, from: 30, to: 40 },
      { lock: 2, from: 30, to: 40 },
      { lock: 1, from: 100, to: 110 },
    ];
    expect(overlaps(tenures)).toBe(2);
  });
});

describe('the statistics of the benches', () => {
  it('take the value in the middle, and near an end', () => {
    expect([median([3, 1, 2]), quantile([4, 3, 2, 1], 0), quantile([4, 3, 2, 1], 0.99)]).toEqual([2, 1, 4]);
    expect(median([])).toBeNaN();
  });
});
