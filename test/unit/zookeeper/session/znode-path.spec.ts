import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LockConfigurationError } from '../../../../lib/contract/errors.js';
import { lockPath, recordName, recordPath, withAncestors } from '../../../../lib/zookeeper/session/znode-path.js';

/** What ZooKeeper's own check of a path refuses, by UTF-16 unit (org.apache.zookeeper.common.PathUtils). */
const isRefusedByServers = (unit: number) =>
  unit <= 0x1f ||
  (unit >= 0x7f && unit <= 0x9f) ||
  (unit >= 0xd800 && unit <= 0xf8ff) ||
  (unit >= 0xfff0 && unit <= 0xffff);

const unitsOf = (text: string) => Array.from({ length: text.length }, (_, index) => text.charCodeAt(index));

/** Keys that may be used, rich in what is encoded and in what encodings look like. */
const keys = (() => {
  const unit = fc.oneof(
    fc.constantFrom('a', '%', '2', '5', 'F', '0', '.', ' ', '\u{e000}', '\u{f8ff}', '\u{fffd}', '😀', 'é', '中', '\\'),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  );
  const segment = fc
    .array(unit, { minLength: 1, maxLength: 12 })
    .map((units) => units.join('').replaceAll(/[\u0000-\u001f\u007f-\u009f/]/g, '-'))
    .filter((text) => text !== '.' && text !== '..' && text.isWellFormed());
  return fc.array(segment, { minLength: 1, maxLength: 5 }).map((segments) => segments.join('/'));
})();

function refusalOf(key: unknown, basePath = '/locks'): LockConfigurationError {
  try {
    const path = lockPath(key as string, basePath);
    throw new Error(`the key became ${path}`);
  } catch (error) {
    if (error instanceof LockConfigurationError) return error;
    throw error;
  }
}

describe('a key without a leading slash', () => {
  it.each([
    ['orders/42', '/locks/orders/42'],
    ['a', '/locks/a'],
    ['with space', '/locks/with space'],
    ['Ünïcode/中文', '/locks/Ünïcode/中文'],
    ['100%', '/locks/100%25'],
    ['a%2Fb', '/locks/a%252Fb'],
    ['...', '/locks/...'],
    ['.hidden/..x', '/locks/.hidden/..x'],
    ['\ue000', '/locks/%EE%80%80'],
    ['\uffff', '/locks/%EF%BF%BF'],
    ['😀', '/locks/%F0%9F%98%80'],
    ['family/👨‍👩‍👧', '/locks/family/%F0%9F%91%A8‍%F0%9F%91%A9‍%F0%9F%91%A7'],
  ])('lies under the base path: %j', (key, path) => {
    expect(lockPath(key, '/locks')).toBe(path);
  });

  it('lies under the root when there is no base path', () => {
    expect(lockPath('orders/42', '')).toBe('/orders/42');
  });

  it('never shares a path with another key', () => {
    const decoded = (path: string) => path.slice('/locks/'.length).split('/').map(decodeURIComponent).join('/');
    fc.assert(
      fc.property(keys, (key) => {
        expect(decoded(lockPath(key, '/locks'))).toBe(key);
      }),
      { numRuns: 1_000 },
    );
  });

  it('becomes a path that the servers take', () => {
    fc.assert(
      fc.property(keys, (key) => {
        const path = lockPath(key, '/locks');
        expect(unitsOf(path).filter(isRefusedByServers)).toEqual([]);
        expect(path.split('/').slice(1)).not.toContain('');
        expect(path.isWellFormed()).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  it('is taken as it is, letter by letter, where the servers take the letter', () => {
    const letters = Array.from({ length: 0x10000 }, (_, unit) => unit)
      .filter((unit) => !isRefusedByServers(unit))
      .map((unit) => String.fromCharCode(unit))
      .filter((letter) => !['%', '/', '.'].includes(letter));
    expect(letters.length).toBeGreaterThan(50_000);
    expect(letters.filter((letter) => lockPath(letter, '') !== `/${letter}`)).toEqual([]);
  });
});

describe('a key with a leading slash', () => {
  it.each(['/orders/42', '/a', '/100%', '/a%2Fb', '/with space/中文'])('is the path itself: %j', (key) => {
    expect(lockPath(key, '/locks')).toBe(key);
  });

  it.each(['/\ue000', '/a/\uffff', '/😀'])('is refused where it would have to be encoded: %j', (key) => {
    const error = refusalOf(key);
    expect(error.message).toContain('is an absolute path with a character that ZooKeeper does not take');
    expect(error.key).toBe(key);
  });
});

describe('a key that cannot be used', () => {
  const segments = [
    ['a//b', 'an empty segment'],
    ['a/', 'an empty segment'],
    ['.', 'the segment "."'],
    ['a/./b', 'the segment "."'],
    ['..', 'the segment ".."'],
    ['a/../b', 'the segment ".."'],
    ['a\u0000b', 'a control character'],
    ['a\nb', 'a control character'],
    ['a\u007f', 'a control character'],
    ['\u009f', 'a control character'],
    ['\ud83d', 'half of a surrogate pair'],
    ['a/\ude00b', 'half of a surrogate pair'],
    ['\ude00\ud83d', 'half of a surrogate pair'],
  ] as const;

  it.each(segments)('is refused, relative: %j', (key, why) => {
    const error = refusalOf(key);
    expect(error.message).toMatch(`key has ${why}`);
    expect(error.key).toBe(key);
  });

  it.each(segments)('is refused, absolute: /%j', (key, why) => {
    expect(refusalOf(`/${key}`).message).toMatch(`key has ${why}`);
  });

  it.each(['/', '//', '//a', '/a//b', '/a/../b', '/a\n'])('is named as the application wrote it: %j', (key) => {
    expect(refusalOf(key).key).toBe(key);
  });

  it.each([
    ['', 'the string ""'],
    [undefined, 'undefined'],
    [null, 'null'],
    [42, 'the number 42'],
    [['a'], 'an array of 1'],
    [{}, 'an object (Object)'],
  ])('is refused: %j', (key, kind) => {
    expect(refusalOf(key).message).toBe(`key must be a string that is not empty, got ${kind}`);
  });

  it.each(['/zookeeper', '/zookeeper/quota'])('lies in the servers’ own directory: %s', (key) => {
    expect(refusalOf(key).message).toContain('lies in /zookeeper, the servers’ own');
    expect(refusalOf(key.slice(1), '').message).toContain('lies in /zookeeper, the servers’ own');
  });

  it.each(['/zookeepers', '/a/zookeeper'])('does not when it only looks like it: %s', (key) => {
    expect(lockPath(key, '/locks')).toBe(key);
  });
});

describe('the longest path', () => {
  it('has 1024 bytes', () => {
    const key = 'x'.repeat(1_024 - '/locks/'.length);
    expect(lockPath(key, '/locks')).toHaveLength(1_024);
    expect(refusalOf(`${key}x`).message).toContain('makes a path over 1024 bytes');
  });

  it('is counted in bytes, after encoding, base path included', () => {
    expect(refusalOf('中'.repeat(342), '').message).toContain('makes a path over 1024 bytes');
    expect(refusalOf('%'.repeat(342), '').message).toContain('makes a path over 1024 bytes');
    expect(refusalOf('x'.repeat(1_020)).message).toContain('makes a path over 1024 bytes');
  });

  it('is refused of an absolute key as well, without printing all of it', () => {
    const { message } = refusalOf(`/${'x'.repeat(2_000)}`);
    expect(message).toContain('makes a path over 1024 bytes');
    expect(message.length).toBeLessThan(150);
  });
});

describe('withAncestors', () => {
  it.each([
    ['/locks/orders/42', ['/locks/orders/42', '/locks/orders', '/locks']],
    ['/a/b', ['/a/b', '/a']],
    ['/locks', ['/locks']],
    ['', []],
  ])('of %j are nearest first, without the root', (path, ancestors) => {
    expect(withAncestors(path)).toEqual(ancestors);
  });
});

describe('recordPath', () => {
  it.each([
    ['a', '/locks/%records/a'],
    ['stock/100%/ä', '/locks/%records/stock/100%25/ä'],
    ['🙂', '/locks/%records/%F0%9F%99%82'],
  ])('puts %j where no relative key leads, and the name can be read from it', (name, path) => {
    expect(recordPath(name, '/locks')).toBe(path);
    expect(recordName(path.slice(path.lastIndexOf('/') + 1))).toBe(name.slice(name.lastIndexOf('/') + 1));
    expect(lockPath(`%records/${name}`, '/locks')).not.toBe(path);
  });

  it.each(['', '/a', 'a/', 'a//b', '.', 'a/../b', 'a\u0000', 1 as unknown as string])('refuses %j', (name) => {
    expect(() => recordPath(name, '/locks')).toThrow(LockConfigurationError);
  });
});
