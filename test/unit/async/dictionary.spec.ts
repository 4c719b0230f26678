import { beforeEach, describe, expect, it } from 'vitest';
import { StringMap } from '../../../lib/async/collections.js';

describe('a dictionary', () => {
  let known: StringMap<number>;

  beforeEach(() => {
    known = new StringMap();
  });

  it('returns the value that was set last', () => {
    known.set('a', 1);
    known.set('b', 2);
    known.set('a', 3);
    expect([known.get('a'), known.get('b'), known.get('c')]).toEqual([3, 2, undefined]);
    expect([known.size, known.has('a'), known.has('c')]).toEqual([2, true, false]);
    expect([known.names, known.values]).toEqual([
      ['a', 'b'],
      [3, 2],
    ]);
  });

  it('drops a deleted name, and reports its deletion once', () => {
    known.set('a', 1);
    expect([known.delete('a'), known.delete('a')]).toEqual([true, false]);
    expect([known.size, known.get('a'), known.has('a'), known.names]).toEqual([0, undefined, false, []]);
  });

  it.each(['constructor', 'toString', '__proto__', 'hasOwnProperty', '7', ''])(
    'treats %j like any other name',
    (name) => {
      expect([known.has(name), known.get(name)]).toEqual([false, undefined]);
      known.set(name, 1);
      expect([known.size, known.get(name), known.names]).toEqual([1, 1, [name]]);
      known.delete(name);
      expect([known.size, known.get(name)]).toEqual([0, undefined]);
    },
  );
});
