import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LockConfigurationError } from '../../../../lib/contract/errors.js';
import { itemsIn } from '../../../../lib/zookeeper/coordination/queue-place.js';
import { permitNumber } from '../../../../lib/zookeeper/recipes/permit-view.js';
import { contenderNameOf } from '../../../../lib/zookeeper/recipes/contender-znode.js';
import {
  checkRoot,
  lockPath,
  placePath,
  recordName,
  recordPath,
  withAncestors,
} from '../../../../lib/zookeeper/recipes/znode-path.js';

/** The UTF-16 units that ZooKeeper's own check of a path refuses (org.apache.zookeeper.common.PathUtils). */
const isRefusedByServers = (unit: number) =>
  unit <= 0x1f ||
  (unit >= 0x7f && unit <= 0x9f) ||
  (unit >= 0xd800 && unit <= 0xf8ff) ||
  (unit >= 0xfff0 && unit <= 0xffff);

const unitsOf = (text: string) => Array.from({ length: text.length }, (_, index) => text.charCodeAt(index));

/** Valid keys with many characters that are encoded, and with text that looks like an encoding. */
const keys = (() => {
  const unit = fc.oneof(
    fc.constantFrom('a', '%', '2', '5', 'F', '0', '.', ' ', '\u{e000}', '\u{f8ff}', '\u{fffd}', '😀', 'é', '中', '\\'),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  );
  const free = fc
    .array(unit, { minLength: 1, maxLength: 12 })
    .map((units) => units.join('').replaceAll(/[\u0000-\u001f\u007f-\u009f/]/g, '-'))
    .filter((text) => text !== '.' && text !== '..' && text.isWellFormed());
  const mark = fc.constantFrom('lock-', '__READ__', '__WRIT__', 'latch-', 'lease-', 'queue-', '__lock__', 'lock%2D');
  const before = fc.constantFrom('', 'b', '_c_', 'lock-', '%');
  const number = fc.stringMatching(/^-?\d{9,11}$/);
  const marked = fc.tuple(before, mark, number).map((parts) => parts.join(''));
  const segment = fc.oneof({ arbitrary: free, weight: 3 }, marked, fc.constantFrom('#0007', '#0042', '#1024', '0007'));
  return fc.array(segment, { minLength: 1, maxLength: 5 }).map((segments) => segments.join('/'));
})();

/** The names of children that a recipe of this package, or a lock of kazoo, takes for its own znodes. */
const isParsed = (name: string) =>
  contenderNameOf(name) !== undefined ||
  permitNumber(name) !== undefined ||
  itemsIn([name]).length > 0 ||
  /__r?lock__-?\d{10}$/.test(name);

const MARKED = [
  'lock-0000000000',
  'block-0000000000',
  'deadlock-1732300000',
  'x__READ__0000000001',
  '_c_1-__WRIT__-000000001',
  'latch-2147483647',
  'release-0000000001',
  'lock--2147483648',
  'queue-0000000000',
  'kazoo__lock__0000000003',
  '__rlock__0000000003',
];
// Names with one digit too few or too many, with a suffix, or with an unknown mark.
const UNMARKED = [
  'lock-000000000',
  'lock-00000000000',
  'lock-0000000000x',
  'lock-',
  'lock_0000000000',
  'my-queue-0000000000',
  'clock-0x00000000',
  'order-0000000000',
  '0000000000',
];

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
  ])('is placed under the base path: %j', (key, path) => {
    expect(lockPath(key, '/locks')).toBe(path);
  });

  it('is placed under the root when there is no base path', () => {
    expect(lockPath('orders/42', '')).toBe('/orders/42');
  });

  it('never shares a path with another key', () => {
    const decoded = (path: string) => path.split('/').map(decodeURIComponent).join('/');
    const keyAt = (path: string) => {
      const [, whole, number] = /^\/locks\/%segments\/(.*)\/(\d{4})$/s.exec(path) ?? [];
      return whole === undefined ? decoded(path.slice('/locks/'.length)) : `${decodeURIComponent(whole)}/#${number}`;
    };
    fc.assert(
      fc.property(keys, (key) => {
        expect(keyAt(lockPath(key, '/locks'))).toBe(key);
      }),
      { numRuns: 1_000 },
    );
  });

  it('has no segment that a recipe would take for a contender, a permit or an item', () => {
    fc.assert(
      fc.property(keys, (key) => {
        const segments = lockPath(key, '/locks').split('/').slice(2);
        expect(segments.filter(isParsed)).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });

  it('becomes a path that the servers accept', () => {
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

  it('is unchanged, character by character, where the servers accept the character', () => {
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

  it.each(['/\ue000', '/a/\uffff', '/😀'])('is refused where it would need encoding: %j', (key) => {
    const error = refusalOf(key);
    expect(error.message).toContain('is an absolute path with a character that ZooKeeper does not take');
    expect(error.key).toBe(key);
  });
});

describe('a segment that looks like a contender', () => {
  it.each(MARKED)('is escaped in a relative key, wherever it stands: %s', (segment) => {
    expect(isParsed(segment)).toBe(true);
    for (const key of [segment, `a/${segment}`, `${segment}/a`]) {
      const path = lockPath(key, '/locks');
      expect(path.split('/').filter(isParsed)).toEqual([]);
      expect(decodeURIComponent(path)).toBe(`/locks/${key}`);
    }
    expect(recordName(placePath('queues', `a/${segment}`, '').slice('/%queues/'.length))).toBe(`a/${segment}`);
    expect(recordName(recordPath(segment, '').slice('/%records/'.length))).toBe(segment);
  });

  it.each([
    ['chain/block-0000000000', '/locks/chain/block%2D0000000000'],
    ['a/y__WRIT__0000000001', '/locks/a/y__WRIT_%5F0000000001'],
    ['lock--000000001', '/locks/lock%2D-000000001'],
  ])('has the last character of its mark encoded: %s', (key, path) => {
    expect(lockPath(key, '/locks')).toBe(path);
  });

  it.each(MARKED)('is refused in an absolute key, with the correct form: %s', (segment) => {
    const escaped = lockPath(segment, '').slice(1);
    for (const key of [`/${segment}`, `/a/${segment}`, `/${segment}/a`]) {
      expect(refusalOf(key).message).toContain(`has the segment "${segment}", which the lock above it would take`);
      expect(refusalOf(key).message).toContain(`write "${escaped}" instead`);
      expect(lockPath(key.replace(segment, escaped), '/locks')).toBe(key.replace(segment, escaped));
      expect(() => placePath('queues', key, '/locks')).toThrow(LockConfigurationError);
      expect(() => checkRoot(key)).toThrow(LockConfigurationError);
    }
  });

  it.each(UNMARKED)('is unchanged when no recipe parses it: %s', (segment) => {
    expect(isParsed(segment)).toBe(false);
    expect(lockPath(`a/${segment}`, '/locks')).toBe(`/locks/a/${segment}`);
    expect(lockPath(`/a/${segment}`, '/locks')).toBe(`/a/${segment}`);
  });
});

describe('a segment that is named like a part of a semaphore', () => {
  it.each([
    ['pool/locks', '/locks/pool/%6Cocks'],
    ['pool/leases/a', '/locks/pool/%6Ceases/a'],
    ['pool/permits', '/locks/pool/%70ermits'],
  ])('is escaped below a key: %s', (key, path) => {
    expect(lockPath(key, '/locks')).toBe(path);
    expect(decodeURIComponent(path)).toBe(`/locks/${key}`);
  });

  it('is unchanged without a key above it, and in an absolute key', () => {
    expect(lockPath('locks/a', '/base')).toBe('/base/locks/a');
    expect(lockPath('/app/locks', '/base')).toBe('/app/locks');
  });
});

describe('the key of a segment', () => {
  it.each([
    ['stock/#0007', '/locks/%segments/stock/0007'],
    ['stock/sku1/#1023', '/locks/%segments/stock%2Fsku1/1023'],
    ['100%/#0000', '/locks/%segments/100%25/0000'],
    ['a%2Fb/#0000', '/locks/%segments/a%252Fb/0000'],
    ['lock-0000000001/#0000', '/locks/%segments/lock%2D0000000001/0000'],
    ['a/#0001/#0002', '/locks/%segments/a%2F#0001/0002'],
  ])('is placed beside the locks, where no other key leads: %s', (key, path) => {
    expect(lockPath(key, '/locks')).toBe(path);
    expect(lockPath(path.slice('/locks/'.length), '/locks')).not.toBe(path);
    expect(refusalOf(path).message).toContain('lies in /locks/%segments');
  });

  it.each(['#0007', 'stock/#7', 'stock/#1024', 'stock/#00007', 'stock/#0007/x', 'stock/x#0007'])(
    'does not match text that only looks like it: %s',
    (key) => {
      expect(lockPath(key, '/locks')).toBe(`/locks/${key}`);
    },
  );

  it('does not exist for an absolute key, which is always a path', () => {
    expect(lockPath('/stock/#0007', '/locks')).toBe('/stock/#0007');
  });

  it.each(['a//#0001', './#0001', 'a\n/#0001'])('is refused as the key itself would be: %j', (key) => {
    expect(refusalOf(key).key).toBe(key);
  });

  it('is measured as it is encoded', () => {
    expect(refusalOf(`${'a/'.repeat(400)}a/#0001`).message).toContain('makes a path over 1024 bytes');
  });
});

describe('an absolute key', () => {
  it('is refused when it is the base path, which contains all other keys', () => {
    expect(refusalOf('/locks').message).toContain('is the base path, below which all other keys lie');
    expect(lockPath('/locks', '/other')).toBe('/locks');
    expect(lockPath('/lock', '/locks')).toBe('/lock');
  });

  it.each(['records', 'queues', 'barriers', 'double-barriers', 'values', 'writes', 'segments'])(
    'is refused in a directory that is reserved for other recipes: %s',
    (place) => {
      for (const key of [`/locks/%${place}`, `/locks/%${place}/a`]) {
        expect(refusalOf(key).message).toContain(`lies in /locks/%${place}`);
        expect(lockPath(key, '/other')).toBe(key);
      }
      expect(lockPath(`/locks/%${place}s`, '/locks')).toBe(`/locks/%${place}s`);
    },
  );
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

  it.each(['/', '//', '//a', '/a//b', '/a/../b', '/a\n'])('is quoted as the application wrote it: %j', (key) => {
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

  it.each(['/zookeeper', '/zookeeper/quota'])('is in the servers’ own directory: %s', (key) => {
    expect(refusalOf(key).message).toContain('lies in /zookeeper, the servers’ own');
    expect(refusalOf(key.slice(1), '').message).toContain('lies in /zookeeper, the servers’ own');
  });

  it.each(['/zookeepers', '/a/zookeeper'])('is valid when it only looks like that directory: %s', (key) => {
    expect(lockPath(key, '/locks')).toBe(key);
  });
});

describe('the longest path', () => {
  it('has 1024 bytes', () => {
    const key = 'x'.repeat(1_024 - '/locks/'.length);
    expect(lockPath(key, '/locks')).toHaveLength(1_024);
    expect(refusalOf(`${key}x`).message).toContain('makes a path over 1024 bytes');
  });

  it('is measured in bytes, after encoding, including the base path', () => {
    expect(refusalOf('中'.repeat(342), '').message).toContain('makes a path over 1024 bytes');
    expect(refusalOf('%'.repeat(342), '').message).toContain('makes a path over 1024 bytes');
    expect(refusalOf('x'.repeat(1_020)).message).toContain('makes a path over 1024 bytes');
  });

  it('is refused for an absolute key as well, without printing all of it', () => {
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
