import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { watchBatches } from '../../../../lib/zookeeper/client/watch-table.js';
import { setWatchesRecord } from '../../../../lib/zookeeper/wire/records.js';

const SERVER_LIMIT = 1_048_575;
const largest = (batches: readonly (readonly string[])[]) =>
  Math.max(...batches.map((batch) => setWatchesRecord(1n, batch, 'data').length));

describe('the batches of watches to set again', () => {
  it('are none when there are no watches', () => {
    expect(watchBatches([])).toEqual([]);
  });

  it('are one when the watches are few', () => {
    expect(watchBatches(['/a', '/b/中'])).toEqual([['/a', '/b/中']]);
  });

  it('are as many as the server’s limit requires', () => {
    const paths = Array.from({ length: 5_000 }, (_, number) => `/${'x'.repeat(500)}/${number}`);
    const batches = watchBatches(paths);
    expect(batches.length).toBeGreaterThan(20);
    expect(batches.length).toBeLessThan(50);
    expect(largest(batches)).toBeLessThan(SERVER_LIMIT / 8);
    expect(batches.flat()).toEqual(paths);
  });

  it('are measured in bytes and not in characters', () => {
    const paths = Array.from({ length: 300 }, (_, number) => `/${'中'.repeat(1_000)}/${number}`);
    expect(largest(watchBatches(paths))).toBeLessThan(SERVER_LIMIT / 8);
  });

  it('contain all watches in order, and none is empty', () => {
    const path = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.nat({ max: 60_000 }).map((length) => 'x'.repeat(length)),
    );
    fc.assert(
      fc.property(fc.array(path, { maxLength: 30 }), (paths) => {
        const batches = watchBatches(paths);
        expect(batches.flat()).toEqual(paths);
        expect(batches.filter((batch) => batch.length === 0)).toEqual([]);
      }),
    );
  });
});
