import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { followingBy, nominalTick } from '../../../lib/schedule/schedule.js';
import { cron } from './cron-package.js';

// alone: one of the longest files.

afterEach(() => void vi.useRealTimers());

const HOUR_MS = 3_600_000;
const iso = (instant: number | undefined) => (instant === undefined ? undefined : new Date(instant).toISOString());

/** Returns when a job fires in a period, and the nominal tick that each firing computes. */
async function firings(expression: string, timeZone: string, from: string, lateMs: number) {
  vi.useFakeTimers({ now: new Date(from) });
  const fired: string[] = [];
  const ticks: (string | undefined)[] = [];
  const onTick = () => {
    fired.push(new Date().toISOString());
    ticks.push(iso(nominalTick(followingBy(job.cronTime), Date.now() + lateMs)));
  };
  const job = cron.CronJob.from({ cronTime: expression, timeZone, onTick, start: true });
  await vi.advanceTimersByTimeAsync(7 * HOUR_MS);
  await job.stop();
  return { fired, ticks };
}

// Each night as seen by a job that was started before it. The firings of `cron` are the reference, even where they
// are odd.
const NIGHTS = [
  ['New York, the hour that is not there', 'America/New_York', '2025-03-09T05:10:00Z', '0 */30 * * * *', 14],
  ['a job in the hour that is not there', 'America/New_York', '2025-03-09T05:10:00Z', '0 30 2 * * *', 1],
  ['New York, the hour that is there twice', 'America/New_York', '2025-11-02T04:10:00Z', '0 */30 * * * *', 14],
  ['a job in the hour that is there twice', 'America/New_York', '2025-11-02T04:10:00Z', '0 30 1 * * *', 1],
  ['a job right behind it', 'America/New_York', '2025-11-02T04:10:00Z', '0 0 2 * * *', 2],
  ['Berlin, the hour that is not there', 'Europe/Berlin', '2025-03-29T23:10:00Z', '0 15,45 * * * *', 14],
  ['a job in the hour that is not there', 'Europe/Berlin', '2025-03-29T23:10:00Z', '0 30 2 * * *', 1],
  ['Berlin, the hour that is there twice', 'Europe/Berlin', '2025-10-25T22:10:00Z', '0 15,45 * * * *', 14],
  ['a job in the hour that is there twice', 'Europe/Berlin', '2025-10-25T22:10:00Z', '0 30 2 * * *', 1],
  ['half an hour that is not there', 'Australia/Lord_Howe', '2025-10-04T13:10:00Z', '0 */10 * * * *', 42],
  ['half an hour that is there twice', 'Australia/Lord_Howe', '2025-04-05T13:10:00Z', '0 */10 * * * *', 42],
] as const;

describe('a firing in a night with a daylight saving change', () => {
  it.each(NIGHTS)('has the tick that cron fires it for: %s (%s)', async (_what, zone, from, expression, atLeast) => {
    const { fired, ticks } = await firings(expression, zone, from, 0);
    const late = await firings(expression, zone, from, 700);
    expect(fired.length).toBeGreaterThanOrEqual(atLeast);
    expect(ticks).toEqual(fired);
    expect(late.ticks).toEqual(fired);
    expect(new Set(ticks).size).toBe(ticks.length);
  });
});

const field = (least: number, most: number) =>
  fc.oneof(
    fc.constant('*'),
    fc.uniqueArray(fc.integer({ min: least, max: most }), { minLength: 1, maxLength: 4 }).map((list) => list.join(',')),
    fc.integer({ min: 2, max: 15 }).map((step) => `*/${step}`),
  );
const expressions = fc
  .tuple(field(0, 59), field(0, 59), field(0, 23), fc.constant('*'), fc.constant('*'), field(0, 6))
  .map((fields) => fields.join(' '));

describe('nominalTick', () => {
  it('is the earlier tick for any instant between two ticks', () => {
    const instants = fc.date({ min: new Date('2025-12-01'), max: new Date('2026-02-20'), noInvalidDate: true });
    const zones = fc.constantFrom('UTC', 'America/New_York', 'Asia/Kolkata', 'Australia/Sydney');
    fc.assert(
      fc.property(expressions, zones, instants, fc.nat(), (expression, zone, instant, any) => {
        const following = followingBy(new cron.CronTime(expression, zone));
        const tick = following(instant.getTime());
        const next = following(tick);
        expect(nominalTick(following, tick + (any % (next - tick)))).toBe(tick);
        expect(nominalTick(following, tick)).toBe(tick);
        expect(nominalTick(following, next - 1)).toBe(tick);
      }),
      { numRuns: 30 },
    );
  });

  it('grows with the instant: a clock that is behind never gives a later tick', () => {
    const instants = fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2026, 0, 3) });
    fc.assert(
      fc.property(expressions, instants, fc.integer({ min: 0, max: 10_000 }), (expression, instant, skewMs) => {
        const following = followingBy(new cron.CronTime(expression, 'UTC'));
        const behind = nominalTick(following, instant - skewMs) ?? -Infinity;
        expect(nominalTick(following, instant)).toBeGreaterThanOrEqual(behind);
      }),
      { numRuns: 30 },
    );
  });

  it('looks back for years if necessary', () => {
    const following = followingBy(new cron.CronTime('0 0 12 29 2 *', 'UTC'));
    expect(iso(nominalTick(following, Date.UTC(2026, 10, 22)))).toBe('2024-02-29T12:00:00.000Z');
  });

  it('is undefined before the only date of a job', () => {
    const following = followingBy(new cron.CronTime(new Date('2030-01-01T00:00:00Z')));
    expect(nominalTick(following, Date.UTC(2029, 11, 31))).toBeUndefined();
    expect(iso(nominalTick(following, Date.UTC(2030, 0, 1)))).toBe('2030-01-01T00:00:00.000Z');
    expect(iso(nominalTick(following, Date.UTC(2031, 0, 1)))).toBe('2030-01-01T00:00:00.000Z');
  });
});

describe('followingBy', () => {
  it.each([
    [330, '2026-01-01T02:30:00.000Z'],
    [-210, '2026-01-01T11:30:00.000Z'],
    [-90, '2026-01-01T09:30:00.000Z'],
    [0, '2026-01-01T08:00:00.000Z'],
    [600, '2026-01-01T22:00:00.000Z'],
  ])('honours a fixed offset of %i minutes as cron does', (utcOffset, expected) => {
    vi.useFakeTimers({ now: new Date('2026-01-01T00:00:00Z'), toFake: ['Date'] });
    const cronTime = new cron.CronTime('0 0 8 * * *', null, utcOffset);
    expect(iso(followingBy(cronTime)(Date.now()))).toBe(expected);
    expect((cronTime as never as { sendAt(): { toMillis(): number } }).sendAt().toMillis()).toBe(Date.parse(expected));
  });
});
