import { describe, expect, it } from 'vitest';
import type { ShownContender, ShownKey } from '../../../lib/dashboard/answers.js';
import { HoldTimeline } from '../../../lib/dashboard/hold-timeline.js';

const holder = (label: string, since: number, mode = 'exclusive') =>
  ({ owner: { label, host: 'shop-1', pid: 1 }, since, mode, isOwn: false }) as ShownContender;
const surveyed = (...holders: ShownContender[]) => ({ holders, holding: holders.length }) as unknown as ShownKey;

/** The hold of this process, which is not named by a survey. */
const OWN = Symbol('own');
const own = { label: 'own', host: null, pid: 1 };

describe('the holds of a key', () => {
  it('never overlap when they exclude each other, however late a survey sees it', () => {
    const timeline = new HoldTimeline();
    timeline.surveyed('k', surveyed(holder('first', 1_000)), 2_000);
    timeline.surveyed('k', surveyed(holder('second', 2_100)), 3_000);
    timeline.began('k', OWN, { owner: own, mode: 'exclusive', from: 3_200 });
    timeline.surveyed('k', surveyed(), 4_000);
    expect(timeline.of('k').map(({ from, to }) => [from, to])).toEqual([
      [1_000, 2_100],
      [2_100, 3_200],
      [3_200, null],
    ]);
  });

  // A survey may have seen a holder before it released the key, and be answered after this process got it.
  it('are not opened again by a survey that is older than the own hold', () => {
    const timeline = new HoldTimeline();
    timeline.surveyed('k', surveyed(holder('first', 1_000)), 2_000);
    timeline.began('k', OWN, { owner: own, mode: 'exclusive', from: 3_000 });
    timeline.surveyed('k', surveyed(holder('first', 1_000)), 3_100);
    timeline.ended('k', OWN, 3_150);
    timeline.surveyed('k', surveyed(holder('first', 1_000)), 3_200);
    expect(timeline.of('k').map(({ owner, to }) => [owner.label, to])).toEqual([
      ['first', 3_000],
      ['own', 3_150],
    ]);
  });

  it('do not begin with a survey that is older than the own hold', () => {
    const timeline = new HoldTimeline();
    timeline.began('k', OWN, { owner: own, mode: 'exclusive', from: 3_000 });
    timeline.surveyed('k', surveyed(holder('first', 1_000)), 3_100);
    expect(timeline.of('k').map(({ owner }) => owner.label)).toEqual(['own']);
  });

  it('are those of others where they share the key with this process', () => {
    const timeline = new HoldTimeline();
    timeline.began('k', OWN, { owner: own, mode: 'permit', from: 3_000 });
    timeline.surveyed('k', surveyed(holder('first', 1_000, 'permit')), 3_100);
    expect(timeline.of('k').filter(({ to }) => to === null)).toHaveLength(2);
  });

  it('may be a permit and a lock of one name at once', () => {
    const timeline = new HoldTimeline();
    timeline.began('k', OWN, { owner: own, mode: 'exclusive', from: 3_000 });
    timeline.surveyed('k', surveyed(holder('first', 1_000, 'permit')), 3_100);
    timeline.began('k', Symbol('another'), { owner: own, mode: 'exclusive', from: 3_200 });
    expect(timeline.of('k').filter(({ to }) => to === null)).toHaveLength(3);
  });

  it('end with the survey that misses them when nobody follows', () => {
    const timeline = new HoldTimeline();
    timeline.surveyed('k', surveyed(holder('first', 1_000)), 2_000);
    timeline.surveyed('k', surveyed(), 3_000);
    expect(timeline.of('k')).toMatchObject([{ from: 1_000, to: 3_000 }]);
  });

  it('may be shared by readers, and not with a writer', () => {
    const timeline = new HoldTimeline();
    const [one, other] = [holder('one', 1_000, 'read'), holder('other', 1_500, 'read')];
    timeline.surveyed('k', surveyed(one), 1_200);
    timeline.surveyed('k', surveyed(one, other), 2_000);
    timeline.surveyed('k', surveyed(holder('writer', 2_500, 'write')), 3_000);
    expect(timeline.of('k').map(({ from, to }) => [from, to])).toEqual([
      [1_000, 2_500],
      [1_500, 2_500],
      [2_500, null],
    ]);
  });
});
