import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeMarker, encodeMarker, markerName, runOf } from '../../../lib/schedule/marker.js';
import type { Marker } from '../../../lib/schedule/marker.js';

const writtenAt = new Date('2026-01-01T12:00:00.500Z');
const stored = (value: string) => ({ name: 'cron/x', value, version: 0, writtenAt });
const instants = fc.integer({ min: 0, max: 2 ** 42 });
const markers = fc.record<Marker>({
  name: fc.string(),
  key: fc.string(),
  tick: fc.option(instants, { nil: undefined }),
  state: fc.constantFrom('running', 'done', 'failed', 'lost'),
  runner: fc.record({ host: fc.string(), pid: fc.nat() }),
  runId: fc.string(),
  attempt: fc.nat(),
  startedAt: instants,
  durationMs: fc.option(fc.nat(), { nil: undefined }),
  error: fc.option(fc.string(), { nil: undefined }),
});

describe('a marker', () => {
  it('is decoded as it was encoded', () => {
    fc.assert(
      fc.property(markers, (marker) => {
        expect(decodeMarker(stored(encodeMarker(marker)))).toEqual(marker);
      }),
    );
  });

  it("begins when it was written, on the servers' clock, until that time is recorded as well", () => {
    const [marker] = fc.sample(markers, 1) as [Marker];
    const read = decodeMarker(stored(encodeMarker({ ...marker, startedAt: undefined })));
    expect(read?.startedAt).toBe(writtenAt.getTime());
  });

  it.each(['tick', 'startedAt'])('is not decoded when its %s is no date', (field) => {
    const [marker] = fc.sample(markers, 1) as [Marker];
    const fields: object = JSON.parse(encodeMarker(marker));
    for (const value of ['soon', null, 1]) {
      expect(decodeMarker(stored(JSON.stringify({ ...fields, [field]: value })))).toBeUndefined();
    }
  });

  it.each(['', 'x', 'null', '[]', '{}', '{"name":"a","key":"b","state":"done","runId":"c"}'])(
    'is not decoded, without an error: %s',
    (value) => {
      expect(decodeMarker(stored(value))).toBeUndefined();
    },
  );

  it('has its tick as a readable date', () => {
    const [marker] = fc.sample(markers, 1) as [Marker];
    const tick = Date.UTC(2026, 0, 1);
    expect(encodeMarker({ ...marker, tick })).toContain('"2026-01-01T00:00:00.000Z"');
    expect(runOf({ ...marker, tick }).tick).toEqual(new Date(tick));
  });

  it('has a name little longer than the key, in any script', () => {
    expect(markerName('cron/shop', 'ежедневный/отчёт 50%')).toBe('cron/shop/ежедневный%2Fотчёт 50%25');
  });

  it('truncates an error to a size that can be stored', () => {
    const [marker] = fc.sample(markers, 1) as [Marker];
    expect(encodeMarker({ ...marker, key: 'k', error: 'x'.repeat(100_000) }).length).toBeLessThan(5_000);
  });

  it('has a name of one segment in its folder, different for each key', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.string({ minLength: 1 }), (one, other) => {
        expect(markerName('f', one).split('/')).toHaveLength(2);
        expect(markerName('f', one) === markerName('f', other)).toBe(one === other);
      }),
    );
  });
});
