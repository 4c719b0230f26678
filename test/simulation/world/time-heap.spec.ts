import { describe, expect, it } from 'vitest';
import { Random } from '../../robustness/random.js';
import { TimeHeap } from './time-heap.js';

function drain<T>(heap: TimeHeap<T>): T[] {
  const all: T[] = [];
  for (let first = heap.pop(); first; first = heap.pop()) all.push(first.what);
  return all;
}

describe('TimeHeap', () => {
  it('returns the earliest entry first, and those of one time in the order of insertion', () => {
    const heap = new TimeHeap<string>();
    for (const [at, what] of [
      [3, 'c1'],
      [1, 'a1'],
      [3, 'c2'],
      [2, 'b'],
      [1, 'a2'],
    ] as const) {
      heap.push(at, what);
    }
    expect(heap.first).toMatchObject({ at: 1, what: 'a1' });
    expect(drain(heap)).toEqual(['a1', 'a2', 'b', 'c1', 'c2']);
    expect(heap.first).toBeUndefined();
  });

  it('sorts like a stable sort, even with insertions in between', () => {
    const random = new Random('heap');
    const heap = new TimeHeap<{ at: number; number: number }>();
    let expected: { at: number; number: number }[] = [];
    for (let number = 0; number < 2_000; number++) {
      const one = { at: random.int(0, 50), number };
      heap.push(one.at, one);
      expected.push(one);
      if (!random.chance(0.4)) continue;
      expected = expected.sort((a, b) => a.at - b.at || a.number - b.number);
      expect(heap.pop()?.what).toBe(expected.shift());
    }
    expect(drain(heap)).toEqual(expected.sort((a, b) => a.at - b.at || a.number - b.number));
  });
});
