import { beforeEach, describe, expect, it } from 'vitest';
import { LinkedList } from '../../../lib/async/collections.js';

describe('a linked list', () => {
  let roster: LinkedList<string>;
  const joined = (...names: string[]) => names.map((name) => roster.join(name));

  beforeEach(() => {
    roster = new LinkedList();
  });

  it('is empty at first', () => {
    expect([roster.size, roster.first, roster.shift(), roster.members]).toEqual([0, undefined, undefined, []]);
  });

  it('keeps the order of joining, and a member as often as it joined', () => {
    joined('a', 'b', 'a');
    expect([roster.size, roster.first, roster.members]).toEqual([3, 'a', ['a', 'b', 'a']]);
  });

  it.each([
    ['the first', 0, ['b', 'c']],
    ['one in the middle', 1, ['a', 'c']],
    ['the last', 2, ['a', 'b']],
  ])('removes %s, once', (_who, at, left) => {
    const place = joined('a', 'b', 'c')[at];
    expect([place?.leave(), place?.leave()]).toEqual([true, false]);
    expect([roster.size, roster.members]).toEqual([2, left]);
    joined('d');
    expect(roster.members).toEqual([...left, 'd']);
  });

  it('can be used again when all members have left', () => {
    joined('a', 'b').forEach((place) => place.leave());
    expect([roster.size, roster.first]).toEqual([0, undefined]);
    joined('c');
    expect(roster.members).toEqual(['c']);
  });

  it('removes the first member by shift, whose place is then empty', () => {
    const [first] = joined('a', 'b');
    expect([roster.shift(), first?.leave(), roster.members]).toEqual(['a', false, ['b']]);
  });

  it('rotates the first members behind all others', () => {
    const [a] = joined('a', 'b', 'c');
    expect(roster.rotate(2).map(({ member }) => member)).toEqual(['a', 'b']);
    expect(roster.members).toEqual(['c', 'a', 'b']);
    expect(roster.rotate(9).map(({ member }) => member)).toEqual(['c', 'a', 'b']);
    a?.leave();
    expect([roster.size, roster.members]).toEqual([2, ['c', 'b']]);
  });

  it('returns a snapshot of its members, unaffected by later removals', () => {
    const places = joined('a', 'b', 'c');
    const told: string[] = [];
    roster.members.forEach((name) => {
      told.push(name);
      places.forEach((place) => place.leave());
    });
    expect(told).toEqual(['a', 'b', 'c']);
  });
});
