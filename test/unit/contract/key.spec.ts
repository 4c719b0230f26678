import { describe, expect, it } from 'vitest';
import { checkKey, hasMissingValue } from '../../../lib/contract/key.js';
import { LockConfigurationError } from '../../../lib/index.js';
import { MemoryBackend } from '../../../lib/memory/memory.backend.js';

const REFUSED = [
  ['', 'must be a string that is not empty, got the string ""'],
  [undefined, 'must be a string that is not empty, got undefined'],
  [42, 'must be a string that is not empty, got the number 42'],
  ['a//b', 'has an empty segment (a slash too many), got the string "a//b"'],
  ['a/', 'has an empty segment (a slash too many), got the string "a/"'],
  ['/', 'has an empty segment (a slash too many), got the string "/"'],
  ['//a', 'has an empty segment (a slash too many), got the string "//a"'],
  ['a/./b', 'has the segment ".", got the string "a/./b"'],
  ['/a/..', 'has the segment "..", got the string "/a/.."'],
  ['a\nb', 'has a control character, got the string "a\\nb"'],
  ['\ud83d', 'has half of a surrogate pair, got the string "\\ud83d"'],
] as const;

describe('checkKey', () => {
  it.each(['a', '/a', 'orders/42', '.a/..b', 'a%2Fb', 'x'.repeat(5_000), '😀/中 文'])('accepts %j', (key) => {
    expect(() => checkKey(key)).not.toThrow();
  });

  it.each(REFUSED)('refuses %j with the reason', (key, why) => {
    expect(() => checkKey(key)).toThrow(LockConfigurationError);
    expect(() => checkKey(key)).toThrow(`key ${why}`);
    expect(() => checkKey(key, 'basePath')).toThrow(`basePath ${why}`);
  });

  it('checks the keys of locks in memory as well', () => {
    for (const [key, why] of REFUSED) {
      expect(() => new MemoryBackend().identify(key as string)).toThrow(`key ${why}`);
    }
  });
});

describe('hasMissingValue', () => {
  it.each(['undefined', 'order/undefined', 'null/a', 'a/NaN/b', '/a/[object Object]', 'a/null'])(
    'finds a missing value in %j',
    (key) => {
      expect(hasMissingValue(key)).toBe(true);
    },
  );

  it.each(['undefinedness', 'order/undefined-1', 'nullable/a', 'a/nan', 'a/NaN1', '[object Object', 'a/Null'])(
    'finds no missing value in %j',
    (key) => {
      expect(hasMissingValue(key)).toBe(false);
    },
  );
});
