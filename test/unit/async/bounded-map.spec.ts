import { describe, expect, it } from 'vitest';
import { BoundedMap } from '../../../lib/async/collections.js';

describe('a map with a bound', () => {
  it('evicts the entry that was set longest ago', () => {
    const map = new BoundedMap<number>(2);
    map.set('a', 1);
    map.set('b', 2);
    map.set('a', 3);
    map.set('c', 4);
    expect(['a', 'b', 'c'].map((key) => map.get(key))).toEqual([3, undefined, 4]);
  });

  it('reports what it evicts for lack of room, and nothing else', () => {
    const forgotten: number[] = [];
    const map = new BoundedMap<number>(2, (value) => forgotten.push(value));
    ['a', 'b', 'a'].forEach((key, value) => map.set(key, value));
    map.delete('b');
    expect(forgotten).toEqual([]);
    map.set('c', 3);
    map.set('d', 4);
    expect(forgotten).toEqual([2]);
  });

  it('has room again after a delete', () => {
    const map = new BoundedMap<number>(2);
    map.set('a', 1);
    map.set('b', 2);
    map.delete('b');
    map.delete('unknown');
    map.set('c', 3);
    expect(['a', 'b', 'c'].map((key) => map.get(key))).toEqual([1, undefined, 3]);
  });
});
