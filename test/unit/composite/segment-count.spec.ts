import { describe, expect, it, vi } from 'vitest';
import { anotherService, keyOf, spyOnWarnings, startSegments } from './segments.js';

const NAME = 'segments/stock';

describe('the number of segments of a key', () => {
  it('is recorded by the first call that reads it or acquires a segment', async () => {
    for (const ask of ['count', 'acquire', 'withAll'] as const) {
      const { lock, backend } = startSegments(16);
      expect(await backend.records.read(NAME)).toBeUndefined();
      await lock[ask](() => {});
      expect(await backend.records.read(NAME)).toMatchObject({ value: '{"segments":16}', version: 0 });
      expect(await lock.count()).toBe(16);
    }
  });

  it('is one of two different numbers that are recorded at the same time', async () => {
    const warnings = spyOnWarnings();
    const { lock, other, backend } = startSegments(16);
    const eight = other.segmented('stock', { segments: 8 });
    const seen = [...Array.from({ length: 8 }, () => lock), ...Array.from({ length: 8 }, () => eight)];
    const counts = await Promise.all(seen.map((its) => its.using(({ segments }) => segments)));
    expect(new Set(counts)).toEqual(new Set([await lock.count()]));
    expect([warnings().length, backend.busyKeys]).toEqual([1, []]);
  });

  it('overrides the options once recorded; a difference is logged once', async () => {
    const warnings = spyOnWarnings();
    const { lock, other, asked } = startSegments(8);
    await lock.using(() => {});
    const sixteen = () => other.segmented('stock', { segments: 16 });
    await sixteen().using(({ segments }) => expect(segments).toBe(8), { only: [7] });
    await sixteen().withAll((leases) => expect(leases).toHaveLength(8));
    expect(await sixteen().count()).toBe(8);
    expect(warnings()).toEqual(['the number of segments of "stock" is 8 as recorded, not 16 as its options say']);
    expect(
      asked()
        .slice(-8)
        .map(([key]) => key),
    ).toEqual([0, 1, 2, 3, 4, 5, 6, 7].map(keyOf));
  });

  it('is remembered, so that later acquisitions try no missing segment', async () => {
    spyOnWarnings();
    const { lock, other, asked } = startSegments(1);
    await lock.count();
    await other.segmented('stock', { segments: 16 }).using(() => {});
    const before = asked().length;
    await other.segmented('stock', { segments: 16 }).using(() => {});
    expect(
      asked()
        .slice(before)
        .map(([key]) => key),
    ).toEqual([keyOf(0)]);
  });

  it('is read before `only` is checked', async () => {
    spyOnWarnings();
    const { lock, other } = startSegments(16);
    await lock.count();
    const four = other.segmented('stock', { segments: 4 });
    expect(await four.using(({ segment }) => segment, { only: [12] })).toBe(12);
    await expect(four.acquire({ only: [16] })).rejects.toThrow('only must name segments of "stock", which has 16');
  });

  it.each(['', '16', '{"segments":0}', '{"segments":"16"}', 'null'])('is not %j', async (value) => {
    const { lock, backend } = startSegments(16);
    await backend.records.write([{ name: NAME, value }]);
    const wrong = { code: 'LOCK_CONFIGURATION', message: 'the record "segments/stock" is no count of segments' };
    await expect(lock.acquire()).rejects.toMatchObject(wrong);
    await expect(lock.using(() => expect.unreachable())).rejects.toMatchObject(wrong);
    await expect(lock.withAll(() => expect.unreachable())).rejects.toMatchObject(wrong);
    await expect(lock.resize(8)).rejects.toMatchObject(wrong);
    expect(backend.busyKeys).toEqual([]);
  });

  it('prevents every acquisition when it cannot be read', async () => {
    const { lock, backend } = startSegments(4);
    const unavailable = new Error('no server');
    vi.spyOn(backend.records, 'read').mockRejectedValue(unavailable);
    await expect(lock.acquire()).rejects.toBe(unavailable);
    await expect(lock.using(() => expect.unreachable())).rejects.toBe(unavailable);
    await expect(lock.withAll(() => expect.unreachable())).rejects.toBe(unavailable);
    expect(backend.busyKeys).toEqual([]);
  });

  it('is waited for no longer than waitMs', async () => {
    const { lock, backend } = startSegments(4);
    vi.spyOn(backend.records, 'read').mockReturnValue(new Promise(() => {}));
    const timeout = { name: 'LockTimeoutError', key: 'stock', waitMs: 5 };
    await expect(lock.acquire({ waitMs: 5 })).rejects.toMatchObject(timeout);
    await expect(lock.using(() => expect.unreachable(), { waitMs: 5 })).rejects.toMatchObject(timeout);
    await expect(lock.withAll(() => expect.unreachable(), { waitMs: 5 })).rejects.toMatchObject(timeout);
    expect(backend.busyKeys).toEqual([]);
  });

  it('is separate for each key', async () => {
    const { lock, locks, backend } = startSegments(16);
    await lock.count();
    expect(await locks.segmented('stock/sku1', { segments: 3 }).count()).toBe(3);
    expect(await anotherService(backend).segmented('stock', { segments: 16 }).count()).toBe(16);
  });
});
