import { describe, expect, it } from 'vitest';
import { Holds } from './holds.js';
import type { HoldMode } from './orders.js';

function holds(excused: readonly string[] = []) {
  const all = new Holds((process) => excused.includes(process));
  return {
    all,
    checks: () => all.findings.map(({ check }) => check),
    held: (hold: string, token: number, mode: HoldMode = 'exclusive', key = 'stock') =>
      all.told(processOf(hold), { what: 'held', hold, key, mode, token: String(token) }),
    acts: (hold: string) => all.told(processOf(hold), { what: 'acts', hold }),
    ends: (hold: string) => all.told(processOf(hold), { what: 'ends', hold, why: 'released' }),
  };
}

const processOf = (hold: string) => hold.slice(0, hold.indexOf('/'));

describe('holds', () => {
  it('may follow each other, be of different keys, or be of readers', () => {
    const { held, acts, ends, checks } = holds();
    held('a/1#1', 1);
    acts('a/1#1');
    ends('a/1#1');
    held('b/1#1', 2, 'read');
    held('a/1#2', 3, 'read');
    acts('b/1#1');
    held('c/1#1', 1, 'exclusive', 'prices');
    expect(checks()).toEqual([]);
  });

  it('must not overlap when they exclude each other', () => {
    const { held, checks } = holds();
    held('a/1#1', 1);
    held('b/1#1', 2, 'read');
    expect(checks()).toEqual(['exclusion']);
  });

  it('must not act with an outdated token', () => {
    const { held, ends, checks } = holds();
    held('b/1#1', 2);
    ends('b/1#1');
    held('a/1#1', 1);
    expect(checks()).toEqual(['fencing tokens']);
  });

  it('end with their process', () => {
    const { all, held, checks } = holds();
    held('a/1#1', 1);
    all.died('a');
    held('b/1#1', 2);
    expect([checks(), all.text]).toEqual([[], 'b/1#1 stock']);
  });

  it('are exempt when their process cannot have been notified', () => {
    const { held, acts, checks } = holds(['a']);
    held('a/1#1', 1);
    held('b/1#1', 2);
    acts('a/1#1');
    expect(checks()).toEqual([]);
  });

  it('share a token when a writer continues as a reader', () => {
    const { held, ends, checks } = holds();
    held('a/1#1', 1);
    ends('a/1#1');
    held('a/1#2', 1, 'read');
    expect(checks()).toEqual([]);
    held('b/1#1', 1, 'read');
    expect(checks()).toEqual(['fencing tokens']);
  });
});
