import { getEventListeners } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { deferred } from '../../../lib/async/deferred.js';
import type { SegmentedLock } from '../../../lib/composite/segmented-lock.js';
import { hash, upTo } from '../../../lib/composite/segment-route.js';
import {
  LockConfigurationError,
  LockLostError,
  LockReentrancyError,
  LockTimeoutError,
} from '../../../lib/contract/errors.js';
import type { SegmentLease, SegmentOptions } from '../../../lib/contract/segment.options.js';
import { currentLease } from '../../../lib/service/hold-scope.js';
import { currentSegment } from '../../../lib/service/segments.js';
import { keyOf, startSegments } from './segments.js';

const takeAll = (count: number, acquire: () => Promise<SegmentLease>) =>
  Promise.all(Array.from({ length: count }, acquire));

/** Acquires segments by tryAcquire(), which tries all of them. A call that may wait could queue at a busy one. */
async function takeOneByOne(count: number, lock: SegmentedLock): Promise<SegmentLease[]> {
  const leases: SegmentLease[] = [];
  while (leases.length < count) leases.push((await lock.tryAcquire()) ?? expect.unreachable());
  return leases;
}

describe('a segment of a key', () => {
  it('is a lease with its number, on a separate lock', async () => {
    const { lock, locks } = startSegments(16);
    await using lease = await lock.acquire({ only: [7] });
    expect(lease).toMatchObject({ segment: 7, segments: 16, key: 'stock/#0007', mode: 'exclusive', state: 'held' });
    expect([lease.isHeld(), lease.fencingToken > 0n, lease.acquiredAt instanceof Date]).toEqual([true, true, true]);
    expect(await locks.tryAcquire('stock/#0007')).toBeNull();
    await using _whole = await locks.acquire('stock', { waitMs: 0 });
  });

  it('is current inside, as a lease and as a segment', async () => {
    const { lock, locks } = startSegments(4);
    expect(currentSegment()).toBeUndefined();
    const seen = await lock.using(async (lease) => {
      expect([currentLease(), currentSegment()]).toEqual([lease, lease]);
      await locks.using('another', () => expect([currentLease()?.key, currentSegment()]).toEqual(['another', lease]));
      return lease;
    });
    expect([seen.state, currentSegment()]).toEqual(['released', undefined]);
  });

  it('can be held by as many callers as there are segments, and by no more', async () => {
    const { lock, others, backend } = startSegments(16);
    const leases = [...(await takeAll(8, () => lock.acquire())), ...(await takeOneByOne(8, others))];
    expect(leases.map(({ segment }) => segment).sort((a, b) => a - b)).toEqual(upTo(16));
    expect([await lock.tryAcquire(), await others.tryAcquire()]).toEqual([null, null]);
    await leases[3]?.release();
    expect((await others.tryAcquire())?.segment).toBe(leases[3]?.segment);
    await Promise.all(leases.map((lease) => lease.release()));
    expect(backend.busyKeys).toHaveLength(1);
  });

  it('is waited for when all are busy', async () => {
    const { lock, others, backend, asked } = startSegments(4);
    const leases = await takeAll(4, () => others.acquire());
    const waiting = lock.using(({ segment }) => segment);
    await vi.waitUntil(() => asked().at(-1)?.[1], 30_000);
    const [key = ''] = asked().at(-1) ?? [];
    const own = leases.find((lease) => lease.key === key);
    await own?.release();
    expect(await waiting).toBe(own?.segment);
    expect(backend.busyKeys).toHaveLength(3);
  });

  it('is not requested where a caller of the same process holds it', async () => {
    const { lock, backend } = startSegments(16);
    await takeAll(15, () => lock.acquire());
    expect(backend.requests).toHaveLength(15);
    await lock.acquire();
    expect(backend.requests).toHaveLength(16);
    expect(await lock.tryAcquire()).toBeNull();
    expect(backend.requests).toHaveLength(16);
  });

  it('is found free by a try while another caller of the process gives up its own', async () => {
    const { lock } = startSegments(1);
    const leaving = new AbortController();
    const given = lock.tryAcquire({ signal: leaving.signal });
    const tried = lock.tryAcquire();
    leaving.abort();
    await expect(given).rejects.toMatchObject({ name: 'AbortError' });
    expect(await tried).toMatchObject({ segment: 0 });
  });

  it('can be acquired again once its lease was lost, even without a release by its holder', async () => {
    const { lock, backend } = startSegments(1);
    await lock.acquire();
    backend.leaseOn(keyOf(0))?.lose(new LockLostError('stock', 'test'));
    expect(await lock.tryAcquire()).toMatchObject({ segment: 0 });
  });

  it.each(['at once', 'further out'])(
    'can be acquired again after a loss, while work continues that acquired it %s',
    async (where) => {
      const { lock, backend } = startSegments(1);
      const [begun, end] = [deferred(), deferred()];
      const work = () => (begun.resolve(), end.promise);
      const nested = where === 'at once' ? work : () => lock.using(work);
      const using = lock.using(nested, { onLost: 'ignore' }).catch((error: unknown) => error);
      await begun.promise;
      const lost = backend.leaseOn(keyOf(0));
      lost?.lose(new LockLostError('stock', 'test'));
      await lost?.release();
      expect(await lock.tryAcquire()).toMatchObject({ segment: 0 });
      end.resolve();
      await using;
    },
  );
});

describe('the segment that an acquisition selects', () => {
  it('is the first free one of `only`', async () => {
    const { lock, others } = startSegments(16);
    await others.acquire({ only: [9] });
    await lock.acquire({ only: [3] });
    expect(await lock.acquire({ only: [9, 3, 12, 1] })).toMatchObject({ segment: 12 });
  });

  it('is one of `only`, and no other', async () => {
    const { lock, others } = startSegments(16);
    await takeAll(2, () => others.acquire({ only: [3, 9] }));
    expect(await lock.tryAcquire({ only: [3, 9] })).toBeNull();
    await expect(lock.acquire({ only: [3, 9], waitMs: 1 })).rejects.toBeInstanceOf(LockTimeoutError);
  });

  it('is that of the routeBy value first, and another one when it is busy', async () => {
    const { lock } = startSegments(16);
    const first = await lock.acquire({ routeBy: 'customer-1' });
    expect(first.segment).toBe(hash('customer-1') % 16);
    expect((await lock.acquire({ routeBy: 'customer-1' })).segment).not.toBe(first.segment);
  });

  it("is always the same with route 'hash'", async () => {
    const { locks, backend } = startSegments(16);
    const lock = locks.segmented('stock', { segments: 16, route: 'hash' });
    const events: string[] = [];
    const step = (name: string, routeBy: string) =>
      lock.using(
        async ({ segment }) => {
          events.push(`${name} in`);
          await new Promise((resolve) => setImmediate(resolve));
          events.push(`${name} out`);
          return segment;
        },
        { routeBy },
      );
    const segments = await Promise.all([step('a', 'x'), step('b', 'x'), step('c', 'x')]);
    expect(segments).toEqual([0, 1, 2].map(() => hash('x') % 16));
    expect(events).toEqual(['a in', 'a out', 'b in', 'b out', 'c in', 'c out']);
    await using _held = await lock.acquire({ routeBy: 'x' });
    expect(await lock.tryAcquire({ routeBy: 'x' })).toBeNull();
    expect(backend.busyKeys).toHaveLength(1);
  });
});

describe('the end of a wait for a segment', () => {
  it('is a timeout with the key and the caller’s waitMs', async () => {
    const { lock, others, backend } = startSegments(2);
    await takeAll(2, () => others.acquire());
    const timeout = (waitMs: number) => ({ name: 'LockTimeoutError', key: 'stock', waitMs });
    await expect(lock.acquire({ waitMs: 5 })).rejects.toMatchObject(timeout(5));
    await expect(lock.using(() => expect.unreachable(), { waitMs: 5 })).rejects.toMatchObject(timeout(5));
    await expect(lock.using(() => expect.unreachable(), { waitMs: 0 })).rejects.toMatchObject(timeout(0));
    await expect(lock.withAll(() => expect.unreachable(), { waitMs: 5 })).rejects.toMatchObject(timeout(5));
    await expect(lock.withAll(() => expect.unreachable(), { waitMs: 0 })).rejects.toMatchObject(timeout(0));
    await expect(lock.resize(3, undefined, { waitMs: 5 })).rejects.toMatchObject(timeout(5));
    expect(await lock.tryAcquire({ waitMs: 5 })).toBeNull();
    expect([0, 1].map((segment) => backend.contenders(keyOf(segment)).length)).toEqual([1, 1]);
  });

  it('is the reason of the caller’s signal, unchanged', async () => {
    const { lock, others, backend, asked } = startSegments(2);
    const reason = new LockTimeoutError('the caller’s own', 1);
    await expect(lock.acquire({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(asked()).toEqual([]);
    await takeAll(2, () => others.acquire());
    for (const wait of [
      (signal: AbortSignal) => lock.acquire({ signal }),
      (signal: AbortSignal) => lock.tryAcquire({ signal, waitMs: 60_000 }),
      (signal: AbortSignal) => lock.using(() => expect.unreachable(), { signal }),
      (signal: AbortSignal) => lock.withAll(() => expect.unreachable(), { signal }),
      (signal: AbortSignal) => lock.resize(3, undefined, { signal }),
    ]) {
      const caller = new AbortController();
      const before = asked().length;
      const waiting = wait(caller.signal);
      await vi.waitUntil(() => asked().slice(before).at(-1)?.[1], 30_000);
      caller.abort(reason);
      await expect(waiting).rejects.toBe(reason);
      expect(getEventListeners(caller.signal, 'abort')).toEqual([]);
    }
    expect([0, 1].map((segment) => backend.contenders(keyOf(segment)).length)).toEqual([1, 1]);
  });

  it('is not confused with a timeout error of the work itself', async () => {
    const { lock, backend } = startSegments(4);
    const own = new LockTimeoutError('made by hand', 1);
    await expect(lock.using(() => Promise.reject(own))).rejects.toBe(own);
    await expect(lock.withAll(() => Promise.reject(own))).rejects.toBe(own);
    expect(backend.requests).toHaveLength(5);
  });
});

describe('a nested call for a key of which a segment is held', () => {
  it('enters that segment without a request', async () => {
    const { lock, others, backend } = startSegments(16);
    await lock.using(async (outer) => {
      await others.using(() => {});
      const asked = backend.requests.length;
      const read = vi.spyOn(backend.records, 'read');
      await lock.using(async (inner) => {
        expect([inner.segment, inner.segments, inner.fencingToken]).toEqual([outer.segment, 16, outer.fencingToken]);
        expect(currentSegment()).toBe(inner);
        await inner.release();
        await lock.using(({ segment }) => expect(segment).toBe(outer.segment), { routeBy: 'anything' });
      });
      expect([outer.isHeld(), backend.requests.length, read.mock.calls.length]).toEqual([true, asked, 0]);
    });
  });

  it('lets siblings in one after another, each within its deadline', async () => {
    const { lock } = startSegments(16);
    const mayLeave = deferred();
    await lock.using(async (outer) => {
      const first = lock.using(() => mayLeave.promise);
      const late = { name: 'LockTimeoutError', key: 'stock', waitMs: 1 };
      await expect(lock.using(() => {}, { waitMs: 1 })).rejects.toMatchObject(late);
      await expect(lock.using(() => {}, { waitMs: 0 })).rejects.toBeInstanceOf(LockTimeoutError);
      const second = lock.using(({ segment }) => segment);
      mayLeave.resolve();
      expect([await first, await second]).toEqual([undefined, outer.segment]);
    });
  });

  it('is refused when it would wait for itself', async () => {
    const { lock, locks, backend } = startSegments(16);
    const byHash = locks.segmented('stock', { segments: 16, route: 'hash' });
    const other = Array.from({ length: 100 }, (_, n) => n).find((n) => hash(n) % 16 !== hash('x') % 16);
    await byHash.using(
      async ({ segment }) => {
        const refused = [
          lock.acquire(),
          lock.tryAcquire(),
          lock.using(() => {}, { reentrant: false }),
          lock.using(() => {}, { only: [(segment + 1) % 16] }),
          byHash.using(() => {}, { routeBy: other ?? 0 }),
          lock.withAll(() => {}),
          lock.resize(8),
        ];
        for (const call of await Promise.allSettled(refused)) {
          expect(call).toMatchObject({
            status: 'rejected',
            reason: { name: 'LockReentrancyError', key: expect.stringContaining('stock') },
          });
        }
        await byHash.using((lease) => expect(lease.segment).toBe(segment), { routeBy: 'x' });
        await lock.using((lease) => expect(lease.segment).toBe(segment), { only: [(segment + 1) % 16, segment] });
      },
      { routeBy: 'x' },
    );
    expect(backend.busyKeys).toEqual([]);
    expect(backend.requests).toHaveLength(1);
  });

  it('is identified by key and connection', async () => {
    const { lock, locks, others, backend } = startSegments(2);
    const another = locks.segmented('another', { segments: 2 });
    const elsewhere = startSegments(2);
    await lock.using(() => another.using(() => elsewhere.lock.using(() => {})));
    expect([backend.requests.length, elsewhere.backend.requests.length]).toEqual([2, 1]);
    // Two services on one backend are one connection.
    await lock.using(({ segment }) => others.using((lease) => expect(lease.segment).toBe(segment)));
  });

  it('gets another segment when the outer call has released the one that it waited for', async () => {
    const { lock, others, backend } = startSegments(16);
    const [entered, mayLeave] = [deferred(), deferred()];
    let late: Promise<SegmentLease> | undefined;
    await lock.using(
      async () => {
        void lock.using(() => (entered.resolve(), mayLeave.promise));
        late = lock.using((lease) => lease);
        await entered.promise;
      },
      { only: [12] },
    );
    const resized = others.resize(8);
    await backend.standing(keyOf(12), 2);
    mayLeave.resolve();
    await resized;
    const lease = await late;
    expect([lease?.segments, Number(lease?.segment) < 8, backend.busyKeys]).toEqual([8, true, []]);
  });

  it('rejects when the segment is lost', async () => {
    const { lock, backend } = startSegments(4);
    const lost = new LockLostError('stock', 'test');
    const outer = lock.using(async ({ key }) => {
      backend.leaseOn(key)?.lose(lost);
      await expect(lock.using(() => expect.unreachable())).rejects.toBe(lost);
    });
    await expect(outer).rejects.toBe(lost);
    expect(backend.busyKeys).toEqual([]);
  });
});

describe('a segment that is lost', () => {
  it('before its count is known is not returned, and another one is acquired', async () => {
    const { lock, backend, asked } = startSegments(1);
    const reading = vi.spyOn(backend.records, 'read').mockImplementationOnce(async () => {
      backend.leaseOn(keyOf(0))?.lose(new LockLostError('stock', 'test'));
      return undefined;
    });
    const lease = await lock.acquire();
    expect([lease.isHeld(), asked().length]).toEqual([true, 2]);
    await lease.release();
    reading.mockImplementationOnce(async () => {
      backend.leaseOn(keyOf(0))?.lose(new LockLostError('stock', 'test'));
      return undefined;
    });
    expect(await lock.using((own) => own.isHeld())).toBe(true);
    expect(asked()).toHaveLength(4);
  });

  it('makes running work reject, unless onLost is ignore', async () => {
    const { lock, backend } = startSegments(4);
    const lose = ({ key }: SegmentLease) => backend.leaseOn(key)?.lose(new LockLostError(key, 'test'));
    await expect(lock.using((lease) => lose(lease))).rejects.toMatchObject({ code: 'LOCK_LOST' });
    expect(await lock.using((lease) => (lose(lease), 'done'), { onLost: 'ignore' })).toBe('done');
  });
});

describe('segmented() refuses', () => {
  it.each<[unknown, string]>([
    [{}, 'segments must be a whole number from 1 to 1024, got undefined'],
    [{ segments: 0 }, 'segments must be a whole number from 1 to 1024, got the number 0'],
    [{ segments: 1_025 }, 'segments must be a whole number from 1 to 1024'],
    [{ segments: 1.5 }, 'segments must be a whole number from 1 to 1024'],
    [{ segments: '16' }, 'segments must be a whole number from 1 to 1024, got the string "16"'],
    [{ segments: 16, route: 'random' }, `route must be 'free' or 'hash', got the string "random"`],
    [
      { segments: 16, segment: 3 },
      'segment options: unknown field "segment" (known: segments, route, warnHeldMs, maxHeldMs, overdueGraceMs)',
    ],
    [undefined, 'segment options must be an object, got undefined'],
  ])('%j at once', (options, message) => {
    const { locks } = startSegments(1);
    expect(() => locks.segmented('stock', options as SegmentOptions)).toThrow(message);
  });

  it('an absolute key, whose count would be elsewhere for each base path', () => {
    const { locks } = startSegments(1);
    expect(() => locks.segmented('/stock', { segments: 2 })).toThrow('must not be an absolute path, got "/stock"');
  });

  it('wrong options of one call, before any request', async () => {
    const { lock, locks, asked } = startSegments(4);
    const byHash = locks.segmented('stock', { segments: 4, route: 'hash' });
    const wrong = [
      byHash.acquire(),
      byHash.using(() => {}),
      lock.acquire({ only: [] }),
      lock.tryAcquire({ routeBy: Number.NaN }),
      lock.acquire({ waitMs: -1 }),
      lock.using(() => {}, { signal: 5 as unknown as AbortSignal }),
      lock.using(() => {}, { routeby: 5 } as object),
      lock.withAll(() => {}, { routeBy: 5 } as object),
      lock.resize(0),
      lock.resize(3, undefined, { waitMs: -1 }),
    ];
    for (const call of await Promise.allSettled(wrong)) {
      expect(call).toMatchObject({ status: 'rejected', reason: expect.any(LockConfigurationError) });
    }
    expect(asked()).toEqual([]);
  });

  it('an `only` without an existing segment', async () => {
    const { lock, backend } = startSegments(4);
    await expect(lock.acquire({ only: [4, 9] })).rejects.toThrow('only must name segments of "stock", which has 4');
    expect(backend.busyKeys).toEqual([]);
  });
});

describe('every segment of a key', () => {
  it('is acquired in order and released in reverse', async () => {
    const { lock, backend, asked } = startSegments(12);
    const released: string[] = [];
    const result = await lock.withAll((leases) => {
      expect(leases.map(({ segment }) => segment)).toEqual(upTo(12));
      expect(leases.every((lease) => lease.isHeld() && lease.segments === 12)).toBe(true);
      for (const { key } of leases) void backend.leaseOn(key)?.released.then(() => released.push(key));
      return 'audited';
    });
    expect(result).toBe('audited');
    expect(asked().map(([key]) => key)).toEqual(upTo(12).map(keyOf));
    expect(released).toEqual(upTo(12).map(keyOf).reverse());
  });

  it('is waited for while the segments after it are not held', async () => {
    const { lock, others, backend } = startSegments(4);
    const held = await others.acquire({ only: [2] });
    let isInside = false;
    const all = lock.withAll(() => void (isInside = true));
    await backend.standing(keyOf(2), 2);
    expect([isInside, await others.tryAcquire({ only: [0, 1] })]).toEqual([false, null]);
    await (await others.acquire({ only: [3] })).release();
    await held.release();
    await all;
    expect([isInside, backend.busyKeys]).toEqual([true, []]);
  });

  it('can be entered by nested calls for one segment and for all', async () => {
    const { lock, backend } = startSegments(8);
    await lock.withAll(async (outer) => {
      expect(currentSegment()).toBeUndefined();
      await lock.using(({ segment, fencingToken }) => expect(fencingToken).toBe(outer[segment]?.fencingToken));
      await lock.using(({ segment }) => expect(segment).toBe(5), { only: [5] });
      await lock.withAll((inner) => expect(inner.map(({ segment }) => segment)).toEqual(upTo(8)));
      await lock.using(() => lock.withAll(() => expect(currentSegment()?.segments).toBe(8)));
      await expect(lock.acquire()).rejects.toBeInstanceOf(LockReentrancyError);
      expect(currentLease()?.isHeld()).toBe(true);
    });
    expect([backend.requests.length, backend.busyKeys]).toEqual([8, []]);
  });

  it('is lost with any of them', async () => {
    const { lock, backend } = startSegments(4);
    const lost = new LockLostError('stock', 'test');
    const all = lock.withAll(() => {
      backend.leaseOn(keyOf(2))?.lose(lost);
      expect(currentLease()?.isHeld()).toBe(false);
    });
    await expect(all).rejects.toBe(lost);
    expect(backend.busyKeys).toEqual([]);
  });

  it('is acquired again when one was lost while others were waited for', async () => {
    const { lock, others, backend } = startSegments(3);
    const held = await others.acquire({ only: [2] });
    const all = lock.withAll((leases) => leases.every((lease) => lease.isHeld()));
    await backend.standing(keyOf(2), 2);
    backend.leaseOn(keyOf(0))?.lose(new LockLostError('stock', 'test'));
    await held.release();
    expect(await all).toBe(true);
    expect(backend.busyKeys).toEqual([]);
  });

  it('can be acquired at the greatest possible number', async () => {
    const { lock, others, backend } = startSegments(1_024);
    await lock.withAll((leases) =>
      lock.withAll((again) => expect([leases.length, again.length]).toEqual([1_024, 1_024])),
    );
    await lock.resize(1, ({ leases }) => expect(leases).toHaveLength(1_024));
    expect([await others.count(), backend.busyKeys]).toEqual([1, []]);
  });

  it('does not deadlock with callers of single segments', async () => {
    const { lock, others, backend } = startSegments(4);
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    const inside = new Set<number>();
    const one = async ({ segment }: SegmentLease) => {
      expect(inside.has(segment)).toBe(false);
      inside.add(segment);
      await turn();
      inside.delete(segment);
    };
    const all = async () => {
      expect(inside.size).toBe(0);
      await turn();
      expect(inside.size).toBe(0);
    };
    const calls = [lock, others].flatMap((its) =>
      Array.from({ length: 40 }, (_, n) => (n % 10 === 0 ? its.withAll(all) : its.using(one))),
    );
    await Promise.all(calls);
    expect(backend.busyKeys).toEqual([]);
  });
});
