import { getEventListeners } from 'node:events';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { NEVER, orAbort } from '../../../lib/async/abort.js';
import { deferred } from '../../../lib/async/deferred.js';
import { SegmentLoad } from '../../../lib/composite/segment.js';
import type { KeyLoad } from '../../../lib/composite/segment.js';
import { upTo } from '../../../lib/composite/segment-route.js';
import { visitUntilFound } from '../../../lib/composite/segment-search.js';
import type { Search, VisitLimits, VisitSegment } from '../../../lib/composite/segment-search.js';

const SIXTEEN = upTo(16);

/** The load when nothing is known: no caller of this process is at any segment, and none has tried. */
const UNKNOWN: KeyLoad = {
  callers: () => new Map(),
  isFull: () => false,
  triedInVain() {},
  triedWithSuccess() {},
  enter: () => () => {},
  isHeld: () => false,
  hold: () => () => {},
};

function searchFor(search: Partial<Search> = {}): Search {
  return { candidates: SIXTEEN, load: UNKNOWN, waits: true, signal: NEVER, ...search };
}

/** Segments that are all busy until a visit waits, with the visits and their time limits. */
function busy() {
  const visits: { segment: number; waitMs: number }[] = [];
  const visit: VisitSegment<number> = async (segment, { waitMs }) => {
    visits.push({ segment, waitMs });
    return waitMs === 0 ? undefined : { got: segment };
  };
  return { visits, visit };
}

/** A visit of a segment that is never granted. */
const forEver = (_: number, { signal }: VisitLimits) => orAbort(new Promise<undefined>(() => {}), signal);

function fakeTimers(): void {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
}

describe('the search for a free segment', () => {
  it('takes the first free segment, in the order of the candidates', async () => {
    const visited: number[] = [];
    const free: VisitSegment<string> = async (segment) => {
      visited.push(segment);
      return segment === 5 ? { got: 'five' } : undefined;
    };
    expect(await visitUntilFound(searchFor({ candidates: [9, 5, 2] }), free)).toEqual({ got: 'five' });
    expect(visited).toEqual([9, 5]);
  });

  it('tries three segments, then waits at one', async () => {
    const { visits, visit } = busy();
    const found = await visitUntilFound(searchFor(), visit);
    expect(visits.map(({ waitMs }) => waitMs)).toEqual([0, 0, 0, Infinity]);
    expect(visits.slice(0, 3).map(({ segment }) => segment)).toEqual([0, 1, 2]);
    expect(found).toEqual({ got: visits[3]?.segment });
  });

  it('tries every candidate when it may not wait', async () => {
    const { visits, visit } = busy();
    expect(await visitUntilFound(searchFor({ waits: false }), visit)).toBeUndefined();
    expect(visits).toEqual(SIXTEEN.map((segment) => ({ segment, waitMs: 0 })));
  });

  it('does not try an only candidate before it waits for it', async () => {
    const { visits, visit } = busy();
    expect(await visitUntilFound(searchFor({ candidates: [4] }), visit)).toEqual({ got: 4 });
    expect(visits).toEqual([{ segment: 4, waitMs: Infinity }]);
  });

  it('skips tries where callers of this process are, and waits where the fewest are', async () => {
    const load = new SegmentLoad().of('k');
    for (const segment of SIXTEEN) load.enter(segment);
    for (const segment of SIXTEEN) if (segment !== 11) load.enter(segment);
    const { visits, visit } = busy();
    await visitUntilFound(searchFor({ load }), visit);
    expect(visits).toEqual([{ segment: 11, waitMs: Infinity }]);
  });

  describe('that may not wait', () => {
    const FIVE = upTo(5);

    async function visitsAt(entered: readonly number[], load = new SegmentLoad().of('k')) {
      for (const segment of entered) load.enter(segment);
      load.hold(2);
      const { visits, visit } = busy();
      expect(await visitUntilFound(searchFor({ candidates: FIVE, load, waits: false }), visit)).toBeUndefined();
      return visits.map(({ segment }) => segment);
    }

    it('tries where callers of this process are when they are everywhere: they may only be trying, too', async () => {
      expect(await visitsAt(FIVE)).toEqual([0, 1, 3, 4]);
    });

    it('tries only where no callers of this process are, unless they are everywhere', async () => {
      expect(await visitsAt([0, 2, 3])).toEqual([1, 4]);
    });

    it('tries nowhere when callers are everywhere, and others have just tried in vain', async () => {
      const load = new SegmentLoad().of('k');
      load.triedInVain();
      expect(await visitsAt(FIVE, load)).toEqual([]);
    });
  });

  it('skips tries for a moment after other callers of the process tried in vain', async () => {
    const load = new SegmentLoad().of('k');
    await visitUntilFound(searchFor({ load }), busy().visit);
    const { visits, visit } = busy();
    await visitUntilFound(searchFor({ load }), visit);
    expect(visits.map(({ waitMs }) => waitMs)).toEqual([Infinity]);
    const asked = busy();
    await visitUntilFound(searchFor({ load, waits: false }), asked.visit);
    expect(asked.visits).toHaveLength(16);
  });

  it('returns a different recorded count, from a try and from a wait', async () => {
    expect(await visitUntilFound(searchFor(), async () => ({ recorded: 8 }))).toEqual({ recorded: 8 });
    const waited: VisitSegment<never> = async (_, { waitMs }) => (waitMs === 0 ? undefined : { recorded: 8 });
    expect(await visitUntilFound(searchFor(), waited)).toEqual({ recorded: 8 });
  });

  it('stops waiting after a while, tries others, and then waits longer', async () => {
    fakeTimers();
    const [tried, begun]: [number[], number[]] = [[], []];
    const visit: VisitSegment<string> = async (segment, limits) => {
      if (limits.waitMs === 0) return void tried.push(segment);
      begun.push(Date.now());
      return begun.length === 4 ? { got: 'at last' } : forEver(segment, limits);
    };
    const found = visitUntilFound(searchFor(), visit);
    await vi.runAllTimersAsync();
    expect(await found).toEqual({ got: 'at last' });
    const waited = begun.slice(1).map((time, place) => time - (begun[place] ?? 0));
    expect(waited).toEqual([500, 1_000, 2_000]);
    // Three tries, six, twelve, and in the end one of each segment, in a circle.
    expect(tried).toEqual([...SIXTEEN, ...SIXTEEN, ...SIXTEEN].slice(0, 3 + 6 + 12 + 16));
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([
    ['others here have just tried in vain', { ...UNKNOWN, isFull: () => true }],
    ['callers of this process are everywhere', { ...UNKNOWN, callers: () => new Map(SIXTEEN.map((one) => [one, 1])) }],
  ])('stays queued while %s', async (_, load) => {
    fakeTimers();
    let lines = 0;
    const visit: VisitSegment<never> = (segment, limits) => (lines++, forEver(segment, limits));
    const caller = new AbortController();
    const found = visitUntilFound(searchFor({ load, signal: caller.signal }), visit);
    await vi.advanceTimersByTimeAsync(60_000);
    caller.abort('mine');
    await expect(found).rejects.toBe('mine');
    expect([lines, vi.getTimerCount()]).toEqual([1, 0]);
  });

  it('is notified of a grant before its work has ended, so no timer runs meanwhile', async () => {
    fakeTimers();
    const load = new SegmentLoad().of('k');
    load.triedInVain();
    const mayEnd = deferred<undefined>();
    const work: VisitSegment<undefined> = async (_, { granted }) => (granted(), { got: await mayEnd.promise });
    const waited = visitUntilFound(searchFor({ load }), work);
    await vi.advanceTimersByTimeAsync(10);
    expect(vi.getTimerCount()).toBe(0);
    const tried = visitUntilFound(searchFor({ load, waits: false }), work);
    expect(load.isFull()).toBe(false);
    mayEnd.resolve(undefined);
    expect(await Promise.all([waited, tried])).toEqual([{ got: undefined }, { got: undefined }]);
  });

  it('takes a segment that has become free meanwhile', async () => {
    fakeTimers();
    let isFree = false;
    const visit: VisitSegment<number> = async (segment, limits) => {
      if (limits.waitMs === 0) return isFree ? { got: segment } : undefined;
      isFree = true;
      return forEver(segment, limits);
    };
    const found = visitUntilFound(searchFor({ candidates: [3, 8] }), visit);
    await vi.runAllTimersAsync();
    expect(await found).toEqual({ got: 3 });
  });

  it('stays queued at an only candidate', async () => {
    fakeTimers();
    const limits: VisitLimits[] = [];
    const caller = new AbortController();
    const visit: VisitSegment<never> = (segment, its) => (limits.push(its), forEver(segment, its));
    const found = visitUntilFound(searchFor({ candidates: [3], signal: caller.signal }), visit);
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(limits).toHaveLength(1);
    caller.abort('mine');
    await expect(found).rejects.toBe('mine');
  });

  it('ends with the reason of its signal, and leaves no timer and no listener', async () => {
    fakeTimers();
    const caller = new AbortController();
    const visit: VisitSegment<never> = (segment, its) =>
      its.waitMs === 0 ? Promise.resolve(undefined) : forEver(segment, its);
    const found = visitUntilFound(searchFor({ signal: caller.signal }), visit);
    await vi.advanceTimersByTimeAsync(10);
    caller.abort('mine');
    await expect(found).rejects.toBe('mine');
    expect([vi.getTimerCount(), getEventListeners(caller.signal, 'abort')]).toEqual([0, []]);
  });

  it('rejects with the error of a visit', async () => {
    const failing = () => Promise.reject(new TypeError('its own'));
    await expect(visitUntilFound(searchFor(), failing)).rejects.toThrow(TypeError);
    await expect(visitUntilFound(searchFor({ candidates: [1] }), failing)).rejects.toThrow(TypeError);
  });
});
