import { describe, expect, it } from 'vitest';
import { firstDifference, whole } from './difference.js';

describe('the first difference of two transcripts', () => {
  it('is none where there is none', () => {
    expect(firstDifference(['a', 'b'], ['a', 'b'])).toBeUndefined();
    expect(firstDifference([], [])).toBeUndefined();
  });

  it('is shown with what led there', () => {
    expect(firstDifference(['a', 'b', 'c'], ['a', 'b', 'x'])).toBe('  a\n  b\n- c\n+ x');
  });

  it('may be a line that is missing or too many', () => {
    expect(firstDifference(['a', 'b'], ['a'])).toBe('  a\n- b\n+ (nothing more)');
    expect(firstDifference(['a'], ['a', 'b'])).toBe('  a\n- (nothing more)\n+ b');
  });
});

it('a transcript that broke off is compared with nothing', () => {
  expect(whole(['a', 'b'])).toEqual(['a', 'b']);
  expect(() => whole(['a', '! Error: gone'])).toThrow('not played to its end: ! Error: gone');
});
