import { describe, expect, it } from 'vitest';
import { segmentKey, segmentOfKey } from '../../../lib/contract/segment.options.js';

describe('the key of a segment', () => {
  it.each([
    ['stock', 0, 'stock/#0000'],
    ['stock/sku1', 1_023, 'stock/sku1/#1023'],
    ['a/#0001', 2, 'a/#0001/#0002'],
    ['line\nbreak', 7, 'line\nbreak/#0007'],
  ])('is built from %j and %d, and parses into both', (key, segment, text) => {
    expect(segmentKey(key, segment)).toBe(text);
    expect(segmentOfKey(text)).toEqual({ key, number: text.slice(-4) });
  });

  it.each([
    'stock',
    '#0001',
    '/#0001',
    '/stock/#0001',
    'stock/#1',
    'stock/#1024',
    'stock/#9999',
    'stock/#00001',
    'a#0001',
  ])('is not parsed from %j', (text) => {
    expect(segmentOfKey(text)).toBeUndefined();
  });
});
