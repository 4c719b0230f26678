import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { deferred } from '../../lib/async/deferred.js';
import { ZooKeeperFaultProxy } from '../../lib/testing/index.js';
import { OpCode } from '../../lib/zookeeper/wire/codes.js';
import { freshBasePath } from '../support/base-path.js';
import { eventually } from '../support/eventually.js';
import { openReplyThief } from '../support/reply-thief.js';
import { openService } from '../support/services.js';
import { twoProcesses } from '../support/two-processes.js';
import { UnitLedger } from '../support/unit-ledger.js';

const connectString = inject('zookeeper');
const SEGMENTS = 4;

async function behindThief() {
  const basePath = freshBasePath();
  const thief = await openReplyThief(connectString);
  const locks = await openService({ connectString: thief.connectString, basePath });
  const other = await openService({ connectString, basePath });
  return { thief, locks, other };
}

describe('a stock kept in ZooKeeper', () => {
  it('is sold by several processes to the last unit, refunded and sold again', async () => {
    const { one, other, client, basePath } = await twoProcesses(connectString);
    const stocks = [one, other].map((locks) => locks.stock('shop/mug', { segments: SEGMENTS }));
    const [stock] = stocks as [(typeof stocks)[0]];
    await stock.restock(100);
    const orders = Array.from({ length: 60 }, (_, buyer) => stocks[buyer % 2]!.deduct((buyer % 5) + 1));
    const sold = (await Promise.all(orders)).filter((deduction) => deduction !== null);
    const units = sold.reduce((sum, deduction) => sum + deduction.units, 0);
    expect(await stock.available()).toBe(100 - units);
    expect(units).toBeGreaterThan(95);
    expect(await client.children(`${basePath}/%records/stock/shop%252Fmug/orders`)).toHaveLength(sold.length);

    const refunds = await Promise.all(sold.map((deduction, place) => stocks[place % 2]!.refund(deduction)));
    expect(refunds.every((isRefunded) => isRefunded)).toBe(true);
    expect(await stocks[1]!.available()).toBe(100);
    expect((await stocks[1]!.deduct(100))?.units).toBe(100);
    expect(await stock.deduct(1)).toBeNull();
  });

  it.each([
    ['arrived', true],
    ['did not arrive', false],
  ])('sells once when the reply was lost to a write that %s', async (_what, isApplied) => {
    const { thief, locks, other } = await behindThief();
    const stock = locks.stock('mug', { segments: SEGMENTS });
    await stock.restock(10);
    const cut = isApplied ? thief.stealNext(OpCode.multi) : thief.cutBefore(OpCode.multi);
    const deduction = await stock.deduct(3, { orderId: 'x' });
    await cut;
    expect(deduction?.units).toBe(3);
    const seen = other.stock('mug', { segments: SEGMENTS });
    expect(await seen.available()).toBe(7);
    expect(await seen.deduct(3, { orderId: 'x' })).toEqual(deduction);
  });

  it('has 1,024 segments with a long key, in requests that the server takes', async () => {
    const locks = await openService({ connectString, basePath: freshBasePath() });
    const stock = locks.stock('x'.repeat(850), { segments: 1_024, mergeBelow: 1, waitMs: 60_000 });
    for (let delivery = 0; delivery < 4; delivery++) await stock.restock(256);
    expect((await stock.deduct(1_000))?.units).toBe(1_000);
    expect(await stock.available()).toBe(24);
  });

  it('continues with the next session', async () => {
    const proxy = await ZooKeeperFaultProxy.open(connectString);
    onTestFinished(() => proxy.close());
    const locks = await openService({ connectString: proxy.connectString, basePath: freshBasePath() });
    const stock = locks.stock('mug', { segments: SEGMENTS });
    await stock.restock(200);
    const orders = Array.from({ length: 150 }, (_, buyer) => stock.deduct(1, { orderId: `b${buyer}` }));
    await orders[0];
    await proxy.expireSessions();
    expect((await Promise.all(orders)).every((deduction) => deduction?.units === 1)).toBe(true);
    expect(await stock.available()).toBe(50);
  });
});

describe('a stock in a user’s store', () => {
  it('is sold under the leases of its segments, which have growing tokens', async () => {
    const { one, other } = await twoProcesses(connectString);
    const store = new UnitLedger([10, 10, 10, 10]);
    const tokens = new Map<number, bigint>();
    store.before = async (_call, { segment, fencingToken }) => {
      expect(fencingToken).toBeGreaterThanOrEqual(tokens.get(segment) ?? 0n);
      tokens.set(segment, fencingToken);
    };
    const stocks = [one, other].map((locks) => locks.stock('mug', { segments: SEGMENTS, store }));
    const orders = Array.from({ length: 20 }, (_, buyer) => stocks[buyer % 2]!.deduct((buyer % 4) + 1));
    const sold = (await Promise.all(orders)).reduce((sum, deduction) => sum + (deduction?.units ?? 0), 0);
    expect([sold, store.units]).toEqual([store.unitsTaken, 40 - sold]);
    expect(sold).toBeGreaterThan(36);
    expect(await stocks[0]!.leftovers()).toEqual([]);
  });

  it('waits for the holder of a segment', async () => {
    const { one, other } = await twoProcesses(connectString);
    const stock = one.stock('mug', { segments: 2, store: new UnitLedger([0, 5]) });
    const lock = other.segmented('mug', { segments: 2 });
    await lock.withAll(async () => {
      await expect(stock.deduct(1, { waitMs: 200 })).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
    });
    expect((await stock.deduct(5))?.units).toBe(5);
  });

  it('loses no unit of an order whose session expires during the order', async () => {
    const basePath = freshBasePath();
    const proxy = await ZooKeeperFaultProxy.open(connectString);
    onTestFinished(() => proxy.close());
    const unlucky = await openService({ connectString: proxy.connectString, basePath });
    const lucky = await openService({ connectString, basePath });
    const store = new UnitLedger([5, 5]);
    const options = { segments: 2, store };
    const isTaken = deferred();
    store.after = async (_call, { signal }) => {
      store.after = async () => {};
      isTaken.resolve();
      await proxy.expireSessions();
      await eventually(() => signal.aborted, 'the lease is lost');
    };
    const order = unlucky.stock('mug', options).deduct(2, { orderId: 'x' });
    await isTaken.promise;
    const others = lucky.stock('mug', options).deduct(10);
    const outcomes = await Promise.allSettled([order, others]);
    const isSold = outcomes.map((outcome) => outcome.status === 'fulfilled' && outcome.value !== null);
    await lucky.stock('mug', options).recover();
    expect(isSold).not.toEqual([true, true]);
    expect(store.unitsTaken).toBe((isSold[0] ? 2 : 0) + (isSold[1] ? 10 : 0));
    expect(store.units + store.unitsTaken).toBe(10);
  });
});
