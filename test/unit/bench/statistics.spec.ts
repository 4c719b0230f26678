import { describe, expect, it } from 'vitest';
import { shortNumber } from '../../../bench/report/number.js';
import { median, quantile } from '../../../bench/support/statistics.js';

describe('the statistics of the benches', () => {
  it('take the median, and a percentile near an end', () => {
    expect([median([3, 1, 2]), quantile([4, 3, 2, 1], 0), quantile([4, 3, 2, 1], 0.99)]).toEqual([2, 1, 4]);
    expect(median([100, 20, 3])).toBe(20);
    expect(median([])).toBeNaN();
  });
});

describe('a number of a table', () => {
  it.each([
    [437_123.4, '437,123'],
    [99.95, '100.0'],
    [12.345, '12.3'],
    [0.853, '0.85'],
    [0.00049, '0.0005'],
    [0, '0.00'],
    [-3.7, '-3.70'],
    [Number.NaN, '-'],
    [Infinity, '-'],
    [-Infinity, '-'],
    [undefined, '-'],
  ])('%s is written %s', (value, text) => {
    expect(shortNumber(value)).toBe(text);
  });
});
