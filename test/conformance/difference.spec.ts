import { describe, expect, it } from 'vitest';
import { firstDifference, whole } from './difference.js';

describe('the first difference of two transcripts', () => {
  it('is undefined for equal transcripts', () => {
    expect(firstDifference(['a', 'b'], ['a', 'b'])).toBeUndefined();
    expect(firstDifference([], [])).toBeUndefined();
  });

  it('is shown with the lines before it', () => {
    expect(firstDifference(['a', 'b', 'c'], ['a', 'b', 'x'])).toBe('  a\n  b\n- c\n+ x');
  });

  it('may be a missing or an additional line', () => {
    expect(firstDifference(['a', 'b'], ['a'])).toBe('  a\n- b\n+ (nothing more)');
    expect(firstDifference(['a'], ['a', 'b'])).toBe('  a\n- (nothing more)\n+ b');
  });
});

it('an incomplete transcript is not compared', () => {
  expect(whole(['a', 'b'])).toEqual(['a', 'b']);
  expect(() => whole(['a', '! Error: gone'])).toThrow('not played to its end: ! Error: gone');
});
