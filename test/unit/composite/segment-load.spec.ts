import { describe, expect, it } from 'vitest';
import { now } from '../../../lib/async/clock.js';
import { pause } from '../../../lib/async/timer.js';
import { NEVER } from '../../../lib/async/abort.js';
import { KnownCounts } from '../../../lib/composite/segment-count.js';
import { SegmentLoad } from '../../../lib/composite/segment.js';

describe('the load of segments', () => {
  it('counts the callers at each segment of each key, and is dropped when they have left', () => {
    const load = new SegmentLoad();
    const [a, b] = [load.of('a'), load.of('b')];
    const leaving = [a.enter(1), a.enter(1), a.enter(2), b.enter(1)];
    expect([...a.callers()]).toEqual([
      [1, 2],
      [2, 1],
    ]);
    expect([...b.callers()]).toEqual([[1, 1]]);
    leaving.forEach((leave) => leave());
    expect([a.callers().size, load.of('b').callers().size]).toEqual([0, 0]);
  });

  it('ignores a second leave of the same caller', () => {
    const load = new SegmentLoad().of('a');
    const [leave] = [load.enter(1), load.enter(1)];
    leave?.();
    leave?.();
    expect(load.callers().get(1)).toBe(1);
  });

  it('remembers vain tries, longer each time, until a try succeeds', async () => {
    const load = new SegmentLoad();
    const [a, b] = [load.of('a'), load.of('b')];
    const inVain = async () => {
      const begin = now();
      a.triedInVain();
      while (load.of('a').isFull()) await pause(1, NEVER);
      return now() - begin;
    };
    expect(await inVain()).toBeGreaterThanOrEqual(50);
    expect(await inVain()).toBeGreaterThanOrEqual(100);
    a.triedInVain();
    a.triedWithSuccess();
    expect([a.isFull(), b.isFull()]).toEqual([false, false]);
    b.triedInVain();
    expect([load.of('b').isFull(), load.of('a').isFull()]).toEqual([true, false]);
  });
});

describe('the known segment counts', () => {
  it('are those that differ from the expected number, or once did', () => {
    const known = new KnownCounts();
    expect(known.note('a', 16, 16)).toBe(false);
    expect(known.get('a')).toBeUndefined();
    expect([known.note('a', 8, 16), known.note('a', 8, 16), known.get('a')]).toEqual([true, false, 8]);
    expect([known.note('a', 16, 16), known.get('a'), known.get('b')]).toEqual([true, 16, undefined]);
  });

  it('are bounded: the one that changed longest ago is forgotten', () => {
    const known = new KnownCounts();
    for (let n = 0; n < 10_000; n++) known.note(`k${n}`, 2, 1);
    known.note('k0', 3, 1);
    known.note('one more', 2, 1);
    expect([known.get('k0'), known.get('k1'), known.get('k2'), known.get('one more')]).toEqual([3, undefined, 2, 2]);
  });
});
