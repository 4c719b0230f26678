import { describe, expect, it } from 'vitest';
import { Random } from './random.js';

const draw = (label: string) => {
  const random = new Random(label);
  return Array.from({ length: 20 }, () => random.int(0, 1_000));
};

describe('random numbers', () => {
  it('are the same for the same label, and different for another', () => {
    expect(draw('17/links')).toEqual(draw('17/links'));
    expect(draw('17/links')).not.toEqual(draw('18/links'));
    expect(draw('17/links')).not.toEqual(draw('17/servers'));
  });

  it('pick by weight, and never a key without weight', () => {
    const random = new Random('weights');
    const picks = Array.from({ length: 200 }, () => random.weighted({ often: 9, seldom: 1, never: 0 }));
    expect(new Set(picks)).toEqual(new Set(['often', 'seldom']));
  });

  it('pick every element once in a sample of all', () => {
    expect(new Random('cards').sample([1, 2, 3, 4], 9).toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4]);
  });
});
