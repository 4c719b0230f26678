import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkKey } from '../../../lib/contract/key.js';
import { DistributedLock, key, LockConfigurationError } from '../../../lib/index.js';
import type { LockService } from '../../../lib/index.js';

/** Calls the tag as a compiler does for `texts[0]${values[0]}texts[1]…`. */
function tagged(texts: readonly string[], ...values: readonly unknown[]): string {
  const template = Object.assign([...texts], { raw: texts });
  return key(template, ...(values as string[]));
}

describe('key`…`', () => {
  it.each([
    ['42', '42'],
    ['c56a4180-65aa-42ec-a945-5fd21dec0538', 'c56a4180-65aa-42ec-a945-5fd21dec0538'],
    ['ada.lovelace@example.org', 'ada.lovelace@example.org'],
    ['urn:isbn:3-16_148410', 'urn:isbn:3-16_148410'],
    ['...', '...'],
    ['Ünï 中 😀', 'Ünï 中 😀'],
    [42, '42'],
    [-0.5, '-0.5'],
    [-0, '0'],
    [2n ** 70n, '1180591620717411303424'],
    [true, 'true'],
    ['a/../b', 'a%2F..%2Fb'],
    ['/', '%2F'],
    ['.', '%2E'],
    ['..', '%2E%2E'],
    ['100%', '100%25'],
    ['%2F', '%252F'],
    ['a\nb\u0000\u007f\u009f', 'a%0Ab%00%7F%C2%9F'],
  ])('makes one segment of %s', (value, segment) => {
    expect(key`order/${value}`).toBe(`order/${segment}`);
    expect(key`/order/${value}/line`).toBe(`/order/${segment}/line`);
    expect(decodeURIComponent(segment)).toBe(String(value));
  });

  it('keeps the text of the template unchanged', () => {
    expect(key`a`).toBe('a');
    expect(key`100%/${1}/x`).toBe('100%/1/x');
    expect(key`/curator/${1}`).toBe('/curator/1');
    expect(key`${'/curator'}/1`).toBe('%2Fcurator/1');
    expect(key`.${'.'}`).toBe('.%2E');
  });

  it('escapes the separator after a value that is not the last of its segment', () => {
    expect(key`${'a-b'}-${'c-d'}`).toBe('a%2Db-c-d');
    expect(key`${'a'}-${'b-c-d'}`).toBe('a-b-c-d');
    expect(key`${'a2/2'}2${'b'}`).toBe('a%32%2F%322b');
    expect(key`${'a😀'}😀${'b'}`).toBe('a%F0%9F%98%80😀b');
    expect(key`${'..'}.${'a'}`).toBe('%2E%2E.a');
    expect(key`${'a-b'}-/${'c'}`).toBe('a-b-/c');
  });

  it.each([
    [undefined, 'undefined'],
    [null, 'null'],
    [Number.NaN, 'the number NaN'],
    [Infinity, 'the number Infinity'],
    ['', 'the string ""'],
    [new Date(0), 'an object (Date)'],
    [{}, 'an object (Object)'],
    [['a'], 'an array of 1'],
    [() => 'a', 'function'],
    [Symbol('a'), 'symbol'],
    [new String('a'), 'an object (String)'],
    ['\ud83d', 'a string with half of a surrogate pair'],
  ])('refuses %o and names the place', (value, got) => {
    const making = () => key`order/${'a'}/line/${value as string}/part`;
    expect(making).toThrow(LockConfigurationError);
    expect(making).toThrow(
      'key`order/${…}/line/${…}/part`: value 2, after "/line/", must be a string that is not empty, a finite number, ' +
        `a bigint or a boolean, got ${got}`,
    );
  });

  it('names the place of a value at the very beginning', () => {
    expect(() => key`${'' as string}/a`).toThrow('key`${…}/a`: value 1, with no text before it, must be');
  });

  it('refuses adjacent values, which could not be told apart', () => {
    expect(() => key`a/${'b'}${'c'}`).toThrow(
      'key`a/${…}${…}`: value 1, after "a/", has nothing between it and the next value: put a "/" or a "-" there',
    );
    expect(() => key`${'b'}%${'c'}`).toThrow(
      'value 1, with no text before it, has a "%" between it and the next value',
    );
  });

  it('refuses a template that gives an invalid key', () => {
    expect(() => key``).toThrow('key`` must be a string that is not empty');
    expect(() => key`a//${1}`).toThrow('key`a//${…}` has an empty segment (a slash too many)');
    expect(() => key`a/${1}/`).toThrow('has an empty segment');
    expect(() => key`a/../${1}`).toThrow('has the segment ".."');
    expect(() => key`a\n${1}`).toThrow('has a control character');
    expect(() => key`\u{110000}` as unknown).toThrow('key must be used as the tag of a template');
  });

  it('refuses to be called as a function', () => {
    expect(() => key('order/42' as never)).toThrow('key must be used as the tag of a template, as in key`order/${id}`');
    expect(() => key(['order/'] as never, 42)).toThrow('key must be used as the tag of a template');
    expect(() => tagged(['a/', ''])).toThrow('value 1, after "a/", must be');
  });
});

describe('for any template and any values', () => {
  const character = fc.constantFrom('a', '-', '.', '%', '2', 'F', 'E', '/', '\n', '\u009f', '😀', '中');
  const value = fc.oneof(
    fc.array(character, { minLength: 1, maxLength: 5 }).map((characters) => characters.join('')),
    fc.string({ unit: 'binary', minLength: 1 }).filter((text) => text.isWellFormed()),
  );
  const between = fc.constantFrom('/', '-', '.', '2', 'F', 'a', '😀', '-%', '/x/', 'x/y', '--', '.-');
  const count = 3;
  const texts = fc
    .tuple(fc.constantFrom('', 'a/', '/', '.', 'a', '%2'), between, between, fc.constantFrom('', '/a', '.', '2F'))
    .map((parts) => parts as readonly string[]);
  const values = fc.array(value, { minLength: count, maxLength: count });

  it('two lists of values never make the same key', () => {
    fc.assert(
      fc.property(texts, values, values, (template, some, others) => {
        const isSame = some.every((text, index) => text === others[index]);
        expect(tagged(template, ...some) === tagged(template, ...others)).toBe(isSame);
      }),
      { numRuns: 5_000 },
    );
  });

  it('one text cut at each separator in turn never makes the same key', () => {
    const words = fc.array(fc.constantFrom('a', '%', '2', '/', '.'), { minLength: 2, maxLength: 6 });
    fc.assert(
      fc.property(between, words, (separator, parts) => {
        const cuts = parts.slice(1).map((_, cut) => [parts.slice(0, cut + 1), parts.slice(cut + 1)] as const);
        const made = cuts.map((cut) => tagged(['', separator, ''], ...cut.map((half) => half.join(separator))));
        expect(new Set(made).size).toBe(cuts.length);
      }),
      { numRuns: 2_000 },
    );
  });

  it('the key is valid, and has as many segments as the template', () => {
    fc.assert(
      fc.property(texts, values, (template, some) => {
        const made = tagged(template, ...some);
        expect(() => checkKey(made)).not.toThrow();
        expect(made.split('/')).toHaveLength(template.join('x').split('/').length);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('the compiler', () => {
  class Orders {
    @DistributedLock((order: { readonly id: string }) => key`order/${order.id}`)
    async place(_order: { readonly id: string }): Promise<void> {}

    @DistributedLock((from: number, to: bigint) => [key`account/${from}`, key`account/${to}`])
    async transfer(_from: number, _to: bigint): Promise<void> {}
  }

  it('accepts a key template wherever a key is expected', () => {
    const call = (locks: LockService) => locks.multi([key`a/${1}`, key`b/${true}`]);
    expect(Orders).toBeTypeOf('function');
    expect(call).toBeTypeOf('function');
  });

  it('refuses values that may be missing, and objects', () => {
    const dto: { id?: string; at: Date; name: string | null } = { at: new Date(0), name: null };
    // @ts-expect-error: the id may be undefined
    expect(() => key`order/${dto.id}`).toThrow(LockConfigurationError);
    // @ts-expect-error: the name may be null
    expect(() => key`order/${dto.name}`).toThrow(LockConfigurationError);
    // @ts-expect-error: a date is an object
    expect(() => key`order/${dto.at}`).toThrow(LockConfigurationError);
    // @ts-expect-error: so is an array
    expect(() => key`order/${['a']}`).toThrow(LockConfigurationError);
  });
});
