import { setTimeout as pause } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { beforeEach, describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { deferred } from '../../lib/async/deferred.js';
import type { SegmentedLock } from '../../lib/composite/segmented-lock.js';
import { upTo } from '../../lib/composite/segment-route.js';
import type { LockBackend } from '../../lib/contract/lock-backend.js';
import type { SegmentLease } from '../../lib/contract/segment.options.js';
import { LockService } from '../../lib/service/lock.service.js';
import { ZooKeeperFaultProxy } from '../../lib/testing/index.js';
import { zookeeper } from '../../lib/zookeeper/zookeeper.backend.js';
import { freshBasePath } from '../support/base-path.js';
import { countsAtOnce } from '../support/counts-in-use.js';
import type { CountInUse } from '../support/counts-in-use.js';
import { closeService, openService } from '../support/services.js';
import { twoProcesses } from '../support/two-processes.js';
import { contendersAt, untilContenders } from '../support/znodes.js';

const connectString = inject('zookeeper');
const directoryOf = (segment: number) => `%segments/stock/${String(segment).padStart(4, '0')}`;

// Changed counts are logged as warnings by services that use them.
beforeEach(() => {
  const warn = vi.spyOn(Logger.prototype, 'warn').mockReturnValue();
  return () => warn.mockRestore();
});

/** Runs `times` calls by each of `workers` callers. */
function hammer(workers: number, times: number, call: (worker: number) => Promise<unknown>): Promise<unknown> {
  const work = async (worker: number) => {
    for (let n = 0; n < times; n++) await call(worker);
  };
  return Promise.all(upTo(workers).map(work));
}

describe('the segments of a key', () => {
  it('are held by one caller each, and all at once, across two sessions', async () => {
    const { one, other, client, basePath } = await twoProcesses(connectString);
    const locks = [one, other].map((service) => service.segmented('stock', { segments: 4 }));
    const inside = new Set<number>();
    const tokens = new Map<number, bigint[]>();
    let most = 0;
    const work = async ({ segment, fencingToken }: SegmentLease) => {
      expect(inside.has(segment)).toBe(false);
      inside.add(segment);
      most = Math.max(most, inside.size);
      tokens.set(segment, [...(tokens.get(segment) ?? []), fencingToken]);
      await pause(2);
      inside.delete(segment);
    };
    await hammer(16, 10, (worker) => locks[worker % 2]!.using(work));
    expect(most).toBe(4);
    expect(new Set(tokens.keys())).toEqual(new Set(upTo(4)));
    for (const granted of tokens.values()) expect(granted).toEqual([...granted].sort((a, b) => (a < b ? -1 : 1)));
    for (const segment of upTo(4))
      expect(await contendersAt(client, `${basePath}/${directoryOf(segment)}`)).toEqual([]);
  });

  it('are listed and revoked by their own keys, independently of other keys', async () => {
    const { one, other, client, basePath } = await twoProcesses(connectString);
    const lease = await one.segmented('stock', { segments: 4 }).acquire({ only: [2], label: 'shelf' });
    expect(lease.key).toBe('stock/#0002');
    expect(await client.children(`${basePath}/%segments/stock`)).toEqual(['0002']);
    expect(await other.contenders(lease.key)).toMatchObject([{ state: 'held', owner: { label: 'shelf' } }]);
    expect(await other.tryAcquire(lease.key)).toBeNull();
    await expect(other.acquire(lease.key, { waitMs: 0 })).rejects.toThrow('"stock/#0002" is locked');

    await other.using('stock', () => {});
    await other.using('stock/0002', () => {});
    expect(await other.contenders('stock')).toEqual([]);
    await other.revoke('stock', { graceMs: 0 });
    expect(lease.isHeld()).toBe(true);
    await other.revoke(lease.key, { graceMs: 0 });
    expect(await other.contenders(lease.key)).toEqual([]);
  });

  it('are all held by a caller of withAll(), and by no other caller then', async () => {
    const { one, other } = await twoProcesses(connectString);
    const locks = [one, other].map((service) => service.segmented('stock', { segments: 4 }));
    let [inside, audits] = [0, 0];
    const sell = async () => {
      inside++;
      await pause(1);
      inside--;
    };
    const audit = async () => {
      expect(inside).toBe(0);
      await pause(5);
      expect(inside).toBe(0);
      audits++;
    };
    await hammer(9, 6, (worker) => (worker < 2 ? locks[worker]!.withAll(audit) : locks[worker % 2]!.using(sell)));
    expect(audits).toBe(12);
  });

  it('leave no contender behind when a wait ends', async () => {
    const { one, other, client, basePath } = await twoProcesses(connectString);
    const [lock, others] = [one, other].map((service) => service.segmented('stock', { segments: 2 }));
    await lock!.acquire({ only: [0] });
    await lock!.acquire({ only: [1] });
    expect(await others!.tryAcquire()).toBeNull();
    const timeout = { code: 'LOCK_TIMEOUT', key: 'stock', waitMs: 50 };
    await expect(others!.acquire({ waitMs: 50 })).rejects.toMatchObject(timeout);
    const caller = new AbortController();
    const all = others!.withAll(() => expect.unreachable(), { signal: caller.signal });
    await untilContenders(client, `${basePath}/${directoryOf(0)}`, 2);
    caller.abort(new Error('the customer left'));
    await expect(all).rejects.toThrow('the customer left');
    for (const segment of upTo(2))
      expect(await contendersAt(client, `${basePath}/${directoryOf(segment)}`)).toHaveLength(1);
  });

  it('are granted when one becomes free, even if others stay busy', async () => {
    const { one, other } = await twoProcesses(connectString);
    const [lock, others] = [one, other].map((service) => service.segmented('stock', { segments: 3 }));
    const held = await Promise.all(upTo(3).map((segment) => others!.acquire({ only: [segment] })));
    const waiting = upTo(2).map(() => lock!.acquire());
    // The waiters are queued for two of the three segments, so at most one is queued for the one that becomes free.
    await held[1]!.release();
    const first = await Promise.race(waiting);
    expect(first.segment).toBe(1);
    await held[2]!.release();
    const taken = (await Promise.all(waiting)).map(({ segment }) => segment);
    expect(new Set(taken)).toEqual(new Set([1, 2]));
  });
});

describe('a change of the number of segments', () => {
  const CHANGES = [8, 32, 3];

  /** Three services use the key while a fourth changes its count. Returns the work, each with its count and its time. */
  async function usesDuringChanges(third: (basePath: string) => Promise<LockService>): Promise<CountInUse[]> {
    const basePath = freshBasePath();
    const honest = () => openService({ connectString, basePath });
    const services = await Promise.all([honest(), honest(), third(basePath), honest()]);
    const locks = services.map((service) => service.segmented('stock', { segments: 16 }));
    const uses: CountInUse[] = [];
    const use = async ({ segment, segments }: SegmentLease) => {
      expect(segment).toBeLessThan(segments);
      const from = performance.now();
      await pause(3);
      uses.push({ segments, from, to: performance.now() });
    };
    let isOver = false;
    const users = hammer(15, 1, async (worker) => {
      while (!isOver) await locks[worker % 3]!.using(use);
    });
    await changeAll(locks[3]!, uses).finally(() => (isOver = true));
    await users;
    return uses;
  }

  async function changeAll(lock: SegmentedLock, uses: readonly CountInUse[]): Promise<void> {
    await untilMore(uses, 16);
    for (const segments of CHANGES) {
      await lock.resize(segments);
      await untilMore(uses, segments);
    }
  }

  /** Resolves when the count has been used 30 times. */
  async function untilMore(uses: readonly CountInUse[], segments: number): Promise<void> {
    while (uses.filter((use) => use.segments === segments).length < 30) await pause(5);
  }

  it('is never visible as two counts at once', async () => {
    const uses = await usesDuringChanges((basePath) => openService({ connectString, basePath }));
    expect(new Set(uses.map(({ segments }) => segments))).toEqual(new Set([16, ...CHANGES]));
    expect(countsAtOnce(uses)).toEqual([]);
  });

  it('detects a service that reads the count only once, so the test above can fail', async () => {
    const uses = await usesDuringChanges(openForgetful);
    expect(countsAtOnce(uses)).toContain('16 while 8 was in use');
  });

  /** The planted defect: a service that does not read the count under each lease. */
  async function openForgetful(basePath: string): Promise<LockService> {
    const options = {
      connectionName: 'default',
      waitMs: 20_000,
      drainTimeoutMs: 0,
      connectOnStart: 'required',
    } as const;
    const service = new LockService(forgetful(zookeeper({ connectString, basePath }).create()), options);
    onTestFinished(() => closeService(service));
    await service.onModuleInit();
    return service;
  }

  function forgetful(backend: LockBackend): LockBackend {
    let first: ReturnType<LockBackend['records']['read']> | undefined;
    const { records } = backend;
    return {
      name: 'forgetful',
      state: 'connected',
      identify: (key) => backend.identify(key),
      connect: () => backend.connect(),
      lineOf: (key) => backend.lineOf(key),
      acquire: (request) => backend.acquire(request),
      close: () => backend.close(),
      records: {
        ...records,
        list: (name) => records.list(name),
        write: (changes) => records.write(changes),
        read: async (name) => (await first) ?? (first = records.read(name)),
      },
    };
  }

  it('is not made by an expired session, and other services continue', async () => {
    const basePath = freshBasePath();
    const proxy = await ZooKeeperFaultProxy.open(connectString);
    onTestFinished(() => proxy.close());
    const unlucky = await openService({ connectString: proxy.connectString, basePath });
    const service = await openService({ connectString, basePath });
    const [lock, others] = [unlucky, service].map((its) => its.segmented('stock', { segments: 4 }));
    const [began, mayEnd] = [deferred(), deferred()];
    const resized = lock!.resize(8, () => (began.resolve(), mayEnd.promise));
    await began.promise;
    const waiting = others!.using(({ segments }) => segments);

    await proxy.expireSessions();
    expect(await waiting).toBe(4);
    mayEnd.resolve();

    await expect(resized).rejects.toMatchObject({ code: 'LOCK_LOST' });
    expect(await others!.count()).toBe(4);
    await lock!.resize(8);
    expect(await others!.using(({ segments }) => segments)).toBe(8);
  });

  it('restarts from the current count when another change was made first', async () => {
    const { one, other } = await twoProcesses(connectString);
    await one.segmented('stock', { segments: 2 }).count();
    const froms: number[] = [];
    const change = (service: LockService, segments: number) =>
      service.segmented('stock', { segments: 16 }).resize(segments, ({ from }) => void froms.push(from));
    await Promise.all([change(one, 5), change(other, 7)]);
    const last = await one.segmented('stock', { segments: 2 }).count();
    expect(froms).toEqual([2, last === 5 ? 7 : 5]);
  });
});
