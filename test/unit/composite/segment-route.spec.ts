import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { candidates, checkRoute, hash, leastBusy, upTo } from '../../../lib/composite/segment-route.js';
import type { Route } from '../../../lib/composite/segment-route.js';

const free: Route = { route: 'free' };
const counts = fc.integer({ min: 1, max: 1_024 });
const values = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);

describe('hash', () => {
  it.each([
    ['', 2_872_998_923],
    ['customer-1', 3_902_211_816],
    ['customer-2', 121_537_910],
    ['Ünï/códe 🔒', 2_936_234_175],
    [42, 686_566_589],
  ])('of %j is the same in every version', (value, expected) => {
    expect(hash(value)).toBe(expected);
  });

  it('is a whole number of 32 bits, the same for a number and its text', () => {
    fc.assert(
      fc.property(values, (value) => {
        expect(hash(value)).toBe(hash(String(value)));
        expect(hash(value)).toBe(hash(value) >>> 0);
      }),
    );
  });

  it.each([2, 3, 10, 16, 1_000])('spreads consecutive numbers evenly over %i segments', (segments) => {
    const sizes = upTo(segments).map(() => 0);
    const perSegment = 200;
    for (let n = 0; n < segments * perSegment; n++) sizes[hash(`customer-${n}`) % segments]!++;
    // Five standard deviations of a random distribution.
    const most = 5 * Math.sqrt(perSegment);
    expect(Math.max(...sizes) - perSegment).toBeLessThan(most);
    expect(perSegment - Math.min(...sizes)).toBeLessThan(most);
  });
});

describe('candidates', () => {
  it('of a free route are all segments, each once, in random order', () => {
    fc.assert(
      fc.property(counts, fc.infiniteStream(fc.double({ min: 0, max: 0.999, noNaN: true })), (segments, lots) => {
        const found = candidates(free, segments, () => lots.next().value);
        expect([...found].sort((a, b) => a - b)).toEqual(upTo(segments));
      }),
    );
    const firsts = Array.from({ length: 300 }, () => candidates(free, 4)[0]);
    expect(new Set(firsts)).toEqual(new Set([0, 1, 2, 3]));
  });

  it('begin with the segment of the value, whatever the random order is', () => {
    fc.assert(
      fc.property(values, counts, (routeBy, segments) => {
        const named = hash(routeBy) % segments;
        expect(candidates({ route: 'free', routeBy }, segments)[0]).toBe(named);
        expect(candidates({ route: 'free', routeBy }, segments)).toHaveLength(segments);
        expect(candidates({ route: 'hash', routeBy }, segments)).toEqual([named]);
      }),
    );
  });

  it('are the existing segments of `only`, in its order, each once', () => {
    expect(candidates({ route: 'free', only: [7, 2, 7, 5] }, 16)).toEqual([7, 2, 5]);
    expect(candidates({ route: 'free', only: [7, 2, 5] }, 6)).toEqual([2, 5]);
    expect(candidates({ route: 'free', only: [7] }, 6)).toEqual([]);
    expect(candidates({ route: 'hash', routeBy: 'a', only: [7] }, 6)).toEqual([]);
  });

  it('of `only` and a value begin with the one that the value selects', () => {
    fc.assert(
      fc.property(values, fc.uniqueArray(fc.nat(1_023), { minLength: 1 }), (routeBy, only) => {
        const named = only[hash(routeBy) % only.length];
        expect(candidates({ route: 'hash', routeBy, only }, 1_024)).toEqual([named]);
        const all = candidates({ route: 'free', routeBy, only }, 1_024);
        expect([all[0], new Set(all)]).toEqual([named, new Set(only)]);
      }),
    );
  });
});

describe('leastBusy', () => {
  it('is a segment with the fewest callers', () => {
    const callers = fc.dictionary(fc.nat(15).map(String), fc.integer({ min: 1, max: 9 }));
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(15), { minLength: 1 }), callers, (segments, counted) => {
        const at = new Map(Object.entries(counted).map(([segment, count]) => [Number(segment), count]));
        const chosen = leastBusy(segments, at);
        expect(segments).toContain(chosen);
        expect(at.get(chosen) ?? 0).toBe(Math.min(...segments.map((segment) => at.get(segment) ?? 0)));
      }),
    );
  });

  it('is any of several equally busy segments', () => {
    const chosen = Array.from({ length: 300 }, () => leastBusy([0, 1, 2, 3], new Map([[1, 1]])));
    expect(new Set(chosen)).toEqual(new Set([0, 2, 3]));
  });
});

describe('checkRoute', () => {
  it.each<[Route, string]>([
    [{ route: 'hash' }, 'routeBy must be a string or a finite number, got undefined'],
    [{ route: 'free', routeBy: {} as string }, 'routeBy must be a string or a finite number, got an object (Object)'],
    [{ route: 'free', routeBy: Number.NaN }, 'routeBy must be a string or a finite number, got the number NaN'],
    [{ route: 'free', only: [] }, 'only must be an array of at least one segment, got an array of 0'],
    [{ route: 'free', only: 3 as unknown as number[] }, 'only must be an array of at least one segment'],
    [{ route: 'free', only: [0, -1] }, 'only must be segments from 0 to 1023, got the number -1'],
    [{ route: 'free', only: [0.5] }, 'only must be segments from 0 to 1023, got the number 0.5'],
    [{ route: 'free', only: [1_024] }, 'only must be segments from 0 to 1023, got the number 1024'],
  ])('refuses %j', (route, message) => {
    expect(() => checkRoute(route)).toThrow(message);
  });

  it.each<Route>([free, { route: 'free', routeBy: 0, only: [1_023] }, { route: 'hash', routeBy: '' }])(
    'accepts %j',
    (route) => {
      expect(() => checkRoute(route)).not.toThrow();
    },
  );
});
