import { describe, expect, it, vi } from 'vitest';
import { deferred } from '../../../lib/async/deferred.js';
import type { SegmentChange } from '../../../lib/composite/segment-resize.js';
import { hash, upTo } from '../../../lib/composite/segment-route.js';
import { LockLostError, LockReentrancyError } from '../../../lib/contract/errors.js';
import { everybodyBackend } from '../../multi-process/workers/everybody-backend.js';
import { anotherService, keyOf, spyOnWarnings, startSegments } from './segments.js';

const NAME = 'segments/stock';

describe('a change of the number of segments', () => {
  it.each([
    [16, 4],
    [4, 16],
  ])('from %i to %i is made under the leases of all segments of both', async (from, to) => {
    const { lock, others, backend, asked } = startSegments(from);
    await lock.count();
    spyOnWarnings();
    const [began, mayEnd] = [deferred<SegmentChange>(), deferred()];
    const resized = lock.resize(to, (change) => (began.resolve(change), mayEnd.promise));
    const change = await began.promise;
    expect([change.from, change.to, change.signal.aborted]).toEqual([from, to, false]);
    expect(change.leases.map(({ segment }) => segment)).toEqual(upTo(16));
    expect(change.leases.every((lease) => lease.isHeld())).toBe(true);
    expect([await others.tryAcquire(), await others.count()]).toEqual([null, from]);
    mayEnd.resolve();
    await resized;
    expect(
      asked()
        .slice(0, 16)
        .map(([key]) => key),
    ).toEqual(upTo(16).map(keyOf));
    expect([await lock.count(), await others.count(), backend.busyKeys]).toEqual([to, to, []]);
    expect(await backend.records.read(NAME)).toMatchObject({ value: `{"segments":${to}}` });
    await others.withAll((leases) => expect(leases).toHaveLength(to));
  });

  it('waits for each segment holder, and makes waiters choose among the new segments', async () => {
    spyOnWarnings();
    const { lock, others, other, backend } = startSegments(16);
    const byHash = other.segmented('stock', { segments: 16, route: 'hash' });
    const routeBy = upTo(1_000).find((value) => hash(value) % 16 === 12) ?? expect.unreachable();
    const held = await others.acquire({ only: [12] });
    let migrated = false;
    const resized = lock.resize(8, () => void (migrated = true));
    await backend.standing(keyOf(12), 2);
    const waiting = [byHash.using((lease) => lease, { routeBy }), others.using((lease) => lease, { only: [3] })];
    await Promise.all([backend.standing(keyOf(12), 3), backend.standing(keyOf(3), 2)]);
    expect(migrated).toBe(false);
    await held.release();
    await resized;
    const leases = await Promise.all(waiting);
    expect(leases.map(({ segment, segments }) => [segment, segments])).toEqual([
      [4, 8],
      [3, 8],
    ]);
    expect([migrated, backend.busyKeys]).toEqual([true, []]);
  });

  it('needs no migration, and runs none when the number stays the same', async () => {
    const { lock, backend } = startSegments(4);
    await lock.resize(6);
    await lock.resize(6, () => expect.unreachable());
    expect([await lock.count(), backend.busyKeys]).toEqual([6, []]);
    expect(await backend.records.read(NAME)).toMatchObject({ version: 2 });
  });

  it('lets the migration enter segments, and refuses calls that would wait for it', async () => {
    const { lock, backend } = startSegments(4);
    await lock.resize(6, async () => {
      await lock.using(({ segment }) => expect(segment).toBe(5), { only: [5] });
      await lock.withAll((leases) => expect(leases).toHaveLength(6));
      await expect(lock.resize(3)).rejects.toBeInstanceOf(LockReentrancyError);
    });
    expect([await lock.count(), backend.busyKeys]).toEqual([6, []]);
  });

  it('is made after another one that is in progress', async () => {
    spyOnWarnings();
    const { lock, others, backend } = startSegments(4);
    const changes: string[] = [];
    const note = ({ from, to }: SegmentChange) => void changes.push(`${from} to ${to}`);
    await Promise.all([lock.resize(8, note), others.resize(2, note), lock.resize(6, note)]);
    const [, ends = [], begins = []] = [0, 1, 0].map((place) => changes.map((change) => change.split(' to ')[place]));
    expect(begins).toEqual(['4', ...ends.slice(0, -1)]);
    expect([changes.length, await lock.count(), backend.busyKeys]).toEqual([3, Number(ends.at(-1)), []]);
  });
});

describe('a change that fails', () => {
  it('in the migration rejects with its error, and leaves the count unchanged and no trace', async () => {
    const warnings = spyOnWarnings();
    const { lock, others, backend } = startSegments(4);
    for (const error of [new TypeError('its own'), new LockLostError('another', 'its own')]) {
      await expect(lock.resize(8, () => Promise.reject(error))).rejects.toBe(error);
      await expect(
        lock.resize(8, () => {
          throw error;
        }),
      ).rejects.toBe(error);
    }
    expect([await lock.count(), backend.busyKeys]).toEqual([4, []]);
    await others.using(({ segments }) => expect(segments).toBe(4));
    expect(warnings()).toEqual([]);
  });

  it('in the migration rejects with its error also when the roll-back fails', async () => {
    spyOnWarnings();
    const { lock, others, backend } = startSegments(4);
    const error = new TypeError('its own');
    const failing = lock.resize(8, async () => {
      vi.spyOn(backend.records, 'write').mockRejectedValueOnce(new Error('no server'));
      throw error;
    });
    await expect(failing).rejects.toBe(error);
    await others.using(({ segments }) => expect(segments).toBe(4));
  });

  it('by a lost segment leaves the count; the next holder removes the mark and logs it', async () => {
    const warnings = spyOnWarnings();
    const { lock, others, backend } = startSegments(4);
    const lost = new LockLostError('stock', 'test');
    const failing = lock.resize(8, ({ leases, signal }) => {
      backend.leaseOn(leases[2]?.key ?? '')?.lose(lost);
      expect(signal.reason).toBe(lost);
    });
    await expect(failing).rejects.toBe(lost);
    expect(await backend.records.read(NAME)).toMatchObject({ value: '{"segments":4,"resizingTo":8}' });
    expect([await others.count(), backend.busyKeys]).toEqual([4, []]);
    await others.using(({ segments }) => expect(segments).toBe(4));
    expect(await backend.records.read(NAME)).toMatchObject({ value: '{"segments":4}' });
    expect(warnings()).toEqual(['a change of "stock" from 4 to 8 segments was begun and not ended; make it again']);
    await lock.resize(8);
    expect(await others.count()).toBe(8);
  });

  it('by a loss before the migration does not migrate', async () => {
    const { lock, backend } = startSegments(4);
    const lost = new LockLostError('stock', 'test');
    await lock.count();
    const write = backend.records.write.bind(backend.records);
    vi.spyOn(backend.records, 'write').mockImplementationOnce(async (changes) => {
      backend.leaseOn(keyOf(1))?.lose(lost);
      return write(changes);
    });
    await expect(lock.resize(8, () => expect.unreachable())).rejects.toBe(lost);
    expect(await lock.count()).toBe(4);
  });

  it('can be repeated over the mark that a dead process left', async () => {
    const warnings = spyOnWarnings();
    const { lock, backend } = startSegments(4);
    await backend.records.write([{ name: NAME, value: '{"segments":4,"resizingTo":9}' }]);
    await lock.resize(8, ({ from, to }) => expect([from, to]).toEqual([4, 8]));
    expect([await lock.count(), warnings()]).toEqual([8, []]);
  });

  it('cannot be applied late: a caller that works with the old count has removed its mark', async () => {
    spyOnWarnings();
    // A planted defect: a lock that excludes nobody, as it seems to a process that resizes and was paused for long.
    const backend = everybodyBackend();
    const [one, other] = [anotherService(backend), anotherService(backend)];
    const [lock, others] = [one.segmented('stock', { segments: 4 }), other.segmented('stock', { segments: 4 })];
    const [began, mayEnd] = [deferred(), deferred()];
    const resized = lock.resize(8, () => (began.resolve(), mayEnd.promise));
    await began.promise;
    const worked = await others.using(async ({ segments }) => {
      mayEnd.resolve();
      await expect(resized).rejects.toMatchObject({ code: 'LOCK_LOST', key: 'stock' });
      return [segments, await others.count()];
    });
    expect(worked).toEqual([4, 4]);
  });

  it('begins again when the record was written between the read and the mark', async () => {
    const { lock, backend } = startSegments(4);
    await lock.count();
    const write = backend.records.write.bind(backend.records);
    vi.spyOn(backend.records, 'write').mockImplementationOnce(async (changes) => {
      await write([{ name: NAME, value: '{"segments":4}' }]);
      return write(changes);
    });
    let migrations = 0;
    await lock.resize(8, () => void migrations++);
    expect([migrations, await lock.count(), backend.busyKeys]).toEqual([1, 8, []]);
  });
});
