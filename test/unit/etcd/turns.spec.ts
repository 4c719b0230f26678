import { describe, expect, it } from 'vitest';
import { entryOf, turnsOf } from '../../../lib/etcd/locks/entry.js';

const entry = (mode: 'exclusive' | 'read' | 'write' | 'permit', permits = 1) => ({ mode, permits, most: 3, since: 0 });

describe('the number of turns', () => {
  it.each([
    ['nobody', [], 0],
    ['one that excludes all', [entry('exclusive'), entry('exclusive'), entry('read')], 1],
    ['readers up to the first writer', [entry('read'), entry('read'), entry('write'), entry('read')], 2],
    ['a writer alone', [entry('write'), entry('read')], 1],
    ['permits up to the number', [entry('permit', 2), entry('permit'), entry('permit')], 2],
    ['permits, with no overtaking', [entry('permit', 2), entry('permit', 2), entry('permit')], 1],
  ])('is that of %s', (_, entries, turns) => {
    expect(turnsOf(entries, undefined)).toBe(turns);
  });

  it('follows the recorded number of permits', () => {
    const entries = [entry('permit'), entry('permit')];
    expect([0, 1, 2].map((number) => turnsOf(entries, number))).toEqual([0, 1, 2]);
  });

  it('takes an entry that cannot be read for one that excludes all', () => {
    const value = Buffer.from('not JSON');
    expect(entryOf({ key: 'k', value, created: 1, modified: 1, version: 1 })).toMatchObject({ mode: 'exclusive' });
  });
});
