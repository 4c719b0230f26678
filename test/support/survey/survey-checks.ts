import { expect, it, onTestFinished } from 'vitest';
import type { LockBackend } from '../../../lib/contract/lock-backend.js';
import { FaultProxy } from '../../../lib/testing/index.js';
import { LockService } from '../../../lib/service/lock.service.js';
import { eventually } from '../eventually.js';
import { closeService } from '../plain-service.js';

const SETTINGS = { connectionName: 'default', service: 'shop', waitMs: 60_000, drainTimeoutMs: 0 } as const;
const LONG_MS = 30_000;

async function serviceOn(backend: LockBackend): Promise<LockService> {
  const locks = new LockService(backend, { ...SETTINGS, connectOnStart: 'required' });
  onTestFinished(() => closeService(locks));
  await locks.onModuleInit();
  return locks;
}

/** The settings of a client that a test of surveys needs. */
export interface SurveyClient {
  /** The address of the server, as `host:port`. Default: that of the server itself. */
  readonly host?: string;
  readonly connectTimeoutMs?: number;
  readonly sessionTimeoutMs?: number;
}

/**
 * The tests of surveys that every real server passes.
 * @param open opens a client of the same base path for each name
 * @param host returns the address of the server, as `host:port`
 */
export function surveyTests(open: (place: string, client?: SurveyClient) => LockBackend, host: () => string): void {
  it('equals the contenders of each key, in two processes with local callers', async () => {
    const [one, other] = await Promise.all([serviceOn(open('equal')), serviceOn(open('equal'))]);
    const leaving = new AbortController();
    const { signal } = leaving;
    const names = ['a', 'a/b', 'c', 'd/e/f'];
    for (const key of names) await one.acquire(key, { label: `holder of ${key}` });
    await one.semaphore('c', { permits: 2 }).acquire();
    await one.readWriteLock('r').read.acquire({ label: 'reader' });
    const waits = names.slice(0, 3).flatMap((key) => [one.acquire(key, { signal }), other.acquire(key, { signal })]);
    waits.push(one.readWriteLock('r').write.acquire({ signal }), other.semaphore('c', { permits: 2 }).acquire());
    const ended = Promise.allSettled(waits);
    await eventually(async () => (await one.contenders('r')).length === 2, 'the writer waits');
    await eventually(async () => (await one.contenders('a')).length === 3, 'both wait');

    for (const locks of [one, other]) {
      const { keys, isTruncated } = await locks.survey({ mostContenders: 50, withinMs: LONG_MS });
      expect(isTruncated).toBe(false);
      expect([...new Set(keys.map(({ key }) => key))].sort()).toEqual([...names, 'r'].sort());
      for (const name of new Set(keys.map(({ key }) => key))) {
        const found = keys.filter(({ key }) => key === name);
        // A semaphore of that key is listed on its own.
        const inOrder = ['lock', 'semaphore'].flatMap((kind) => found.filter((one) => one.kind === kind));
        const contenders = inOrder.flatMap(({ holders, waiters }) => [...holders, ...waiters]);
        expect(contenders).toEqual(await locks.contenders(name));
      }
    }
    leaving.abort(new Error('the end'));
    await ended;
  });

  it('stops at its bound among a thousand keys', async () => {
    const locks = await serviceOn(open('thousand'));
    const keys = Array.from({ length: 1_000 }, (_, at) => `orders/${at % 10}/${at}`);
    await Promise.all(keys.map((key) => locks.acquire(key)));
    const few = await locks.survey({ withinMs: LONG_MS });
    expect([few.keys.length, few.isTruncated]).toEqual([200, true]);
    const all = await locks.survey({ mostKeys: 2_000, withinMs: LONG_MS });
    expect(all.keys.map(({ key }) => key).sort()).toEqual(keys.sort());
    expect([all.isTruncated, all.keys.every(({ holding, waiting }) => holding === 1 && waiting === 0)]).toEqual([
      false,
      true,
    ]);
    const some = await locks.survey({ prefix: 'orders/7/', mostKeys: 500, withinMs: LONG_MS });
    expect([some.keys.length, some.isTruncated]).toEqual([100, false]);
  });
  it('may take longer than a server may take to answer', async () => {
    const proxy = await FaultProxy.open(host());
    onTestFinished(() => proxy.close());
    const slow = { host: proxy.connectString, connectTimeoutMs: 3_000, sessionTimeoutMs: 30_000 };
    const locks = await serviceOn(open('slow', slow));
    await locks.acquire('orders/1');
    proxy.delay(2_000, 'toClient');
    const { keys, isTruncated } = await locks.survey({ withinMs: LONG_MS });
    expect([keys.map(({ key }) => key), isTruncated]).toEqual([['orders/1'], false]);
    proxy.heal();
  });
}
