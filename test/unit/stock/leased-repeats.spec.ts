import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { deferred } from '../../../lib/async/deferred.js';
import { hash } from '../../../lib/composite/segment-route.js';
import { LockConfigurationError, LockTimeoutError } from '../../../lib/contract/errors.js';
import type { RecordChange } from '../../../lib/contract/record-store.js';
import { eventually } from '../../support/eventually.js';
import type { SegmentedStock } from '../../../lib/stock/segmented-stock.js';
import { openDoomedStock, openLeasedStock } from './leased-shops.js';

describe('an order that is repeated after its first process was given up', () => {
  /**
   * A first process that is held up in front of its sale, and whose units were put back. Its sale goes out while the
   * repeated order takes units.
   */
  async function lateSale(levels: readonly number[], routeBy: string) {
    const opened = openDoomedStock(levels);
    const { stock, ledger, records, die, expire, survivor } = opened;
    const [revived, answered] = [deferred(), deferred()];
    let held: readonly RecordChange[] | undefined;
    records.beforeWrite = async (changes) => {
      const isSale = changes.some(({ name, value }) => name.includes('/orders/x') && typeof value === 'string');
      if (!isSale || held) return;
      held = changes;
      void die();
      await revived.promise;
    };
    records.afterWrite = async (changes) => {
      if (changes === held) answered.resolve();
    };
    const late = stock.deduct(3, { orderId: 'x', routeBy, waitMs: 5_000 });
    await expire();
    expect(await survivor.recover()).toBe(3);
    const whileTaking = async (call: string) => {
      if (call !== 'take') return;
      revived.resolve();
      await answered.promise;
    };
    return { ledger, survivor, late, letTheSaleOut: () => (ledger.before = whileTaking) };
  }

  it('is not sold by the late sale of the first attempt', async () => {
    const { ledger, survivor, late, letTheSaleOut } = await lateSale([4], 'any');
    expect((await survivor.deduct(4))?.units).toBe(4);
    letTheSaleOut();
    expect(await survivor.deduct(3, { orderId: 'x' })).toBeNull();
    expect(await late).toBeNull();
    expect([ledger.units, ledger.unitsTaken]).toEqual([0, 4]);
  });

  it('is refunded to the segment that it was sold from', async () => {
    const [zero, one] = [0, 1].map((wanted) => ['a', 'b', 'c', 'd'].find((route) => hash(route) % 2 === wanted)!);
    const { ledger, survivor, late, letTheSaleOut } = await lateSale([4, 4], zero!);
    letTheSaleOut();
    const sale = await survivor.deduct(3, { orderId: 'x', routeBy: one! });
    expect(sale?.parts).toEqual([{ segment: 1, units: 3 }]);
    expect(await late).toEqual(sale);
    expect(await survivor.refund('x')).toBe(true);
    expect(ledger.units).toBe(8);
  });
});

const transaction = new AsyncLocalStorage<string>();

describe('units of an order that was left', () => {
  /** A stock with an order that was left, and the context in which its units are put back. */
  async function leftOrder() {
    const { stock, ledger, die, begin, expire, survivor } = openDoomedStock([4]);
    ledger.after = () => die();
    begin(() => stock.deduct(3, { orderId: 'left' }));
    await expire();
    const seen: unknown[] = [];
    ledger.after = async (call) => {
      if (call === 'putBack') seen.push(transaction.getStore());
    };
    return { survivor, ledger, seen };
  }

  it('are put back within the time of the caller: a row of its own transaction may be in the way', async () => {
    const { survivor, ledger } = await leftOrder();
    ledger.before = () => new Promise(() => {});
    await expect(survivor.recover({ waitMs: 50 })).rejects.toBeInstanceOf(LockTimeoutError);
    ledger.before = async () => {};
    expect(await survivor.recover()).toBe(3);
  });

  it('are put back outside the transaction of the order that needs them', async () => {
    const { survivor, seen } = await leftOrder();
    expect((await transaction.run('a transaction', () => survivor.deduct(4)))?.units).toBe(4);
    expect(seen).toEqual([undefined]);
  });

  it('are put back outside the transaction of the caller of recover()', async () => {
    const { survivor, seen } = await leftOrder();
    expect(await transaction.run('a transaction', () => survivor.recover())).toBe(3);
    expect(seen).toEqual([undefined]);
  });

  it('are put back outside the transaction of the caller of refund()', async () => {
    const { survivor, seen } = await leftOrder();
    expect(await transaction.run('a transaction', () => survivor.refund('left'))).toBe(false);
    expect(seen).toEqual([undefined]);
  });
});

describe('a refund that is repeated', () => {
  it('after it timed out puts the units back', async () => {
    const { stock, shops, ledger } = openLeasedStock([5], {}, 2);
    await stock.deduct(2, { orderId: 'x' });
    const lease = await shops[1]!.segmented('sku', { segments: 1 }).acquire();
    await expect(stock.refund('x', { waitMs: 50 })).rejects.toThrow(LockTimeoutError);
    await lease.release();
    expect(await stock.refund('x')).toBe(true);
    expect([ledger.units, ledger.unitsTaken]).toEqual([5, 0]);
    expect(await stock.leftovers()).toEqual([]);
    expect(await stock.refund('x')).toBe(false);
  });

  it('while the first one is at work ends when the units are back, and puts none back', async () => {
    const { stocks, ledger, backend } = openLeasedStock([5], {}, 2);
    const [first, second] = stocks as [(typeof stocks)[0], (typeof stocks)[0]];
    await first.deduct(2, { orderId: 'x' });
    const [isPuttingBack, mayGoOn] = [deferred(), deferred()];
    ledger.before = async () => {
      isPuttingBack.resolve();
      await mayGoOn.promise;
    };
    const refund = first.refund('x');
    await isPuttingBack.promise;
    const repeated = second.refund('x').then((isRefunded) => [isRefunded, ledger.units]);
    await eventually(() => backend.contenders('sku/#0000').length === 2, 'the second one waits');
    mayGoOn.resolve();
    expect(await refund).toBe(true);
    expect(await repeated).toEqual([false, 5]);
  });

  it('after the transaction that it joined was rolled back puts the units back', async () => {
    const { stock, ledger } = openLeasedStock([1, 2]);
    await stock.deduct(3, { orderId: 'x' });
    const before = { levels: [...ledger.levels], taken: [...ledger.taken] };
    const joined: unknown[] = [];
    ledger.before = async () => void joined.push(transaction.getStore());
    expect(await transaction.run('a transaction', () => stock.refund('x'))).toBe(true);
    expect(joined).toEqual(['a transaction', 'a transaction']);
    ledger.levels.splice(0, 2, ...before.levels);
    before.taken.forEach(([name, units]) => ledger.taken.set(name, units));

    expect(await stock.refund('x')).toBe(true);
    expect([ledger.levels, ledger.unitsTaken]).toEqual([[1, 2], 0]);
    expect(await stock.refund('x')).toBe(false);
    expect(await stock.leftovers()).toEqual([]);
  });

  it('after all units are back puts none back, also when a segment of the order was removed', async () => {
    const { stock, shops, ledger } = openLeasedStock([1, 2]);
    await stock.deduct(3, { orderId: 'x' });
    expect(await stock.refund('x')).toBe(true);
    await shops[0]!.segmented('sku', { segments: 2 }).resize(1, () => void ledger.levels.splice(0, 2, 3));
    expect(await stock.refund('x')).toBe(false);
    expect([ledger.levels, await stock.leftovers()]).toEqual([[3], []]);
  });
});

describe('a refund that is repeated long after the first one', () => {
  const DAY_MS = 24 * 3_600_000;

  function aDayLater(): void {
    const later = Date.now() + DAY_MS;
    vi.useFakeTimers({ toFake: ['Date'], now: later });
    onTestFinished(() => void vi.useRealTimers());
  }

  it.each(['succeeded', 'failed'])('and %s is not forgotten while it waits', async (how) => {
    const { stock, stocks, shops, ledger, backend } = openLeasedStock([3], {}, 2);
    await stock.deduct(3, { orderId: 'x' });
    const broken = new Error('the database is down');
    if (how === 'failed') ledger.after = () => Promise.reject(broken);
    await stock.refund('x').catch(() => {});
    ledger.after = async () => {};
    expect([ledger.units, (await stock.leftovers()).length]).toEqual([3, how === 'failed' ? 1 : 0]);
    aDayLater();
    const lease = await shops[1]!.segmented('sku', { segments: 1 }).acquire();
    const again = stock.refund('x');
    await eventually(() => backend.contenders('sku/#0000').length === 2, 'the refund waits');
    expect(await stock.forget({ olderThanMs: DAY_MS / 2 })).toBe(0);
    const anew = expect(stocks[1]!.deduct(3, { orderId: 'x' })).rejects.toThrow(/"x" was refunded/);
    await lease.release();
    await anew;
    expect(await again).toBe(false);
    expect([ledger.units, ledger.unitsTaken]).toEqual([3, 0]);
  });

  it('puts back what was sold anew after the first one was forgotten', async () => {
    const { stock, stocks, records, ledger } = openLeasedStock([3, 3], {}, 2);
    const [zero, one] = [0, 1].map((wanted) => ['a', 'b', 'c', 'd'].find((route) => hash(route) % 2 === wanted)!);
    await stock.deduct(2, { orderId: 'x', routeBy: zero! });
    expect(await stock.refund('x')).toBe(true);
    records.beforeWrite = async () => {
      records.beforeWrite = async () => {};
      await stock.forget({ olderThanMs: 0 });
      const parts = [{ segment: 1, units: 2 }];
      expect(await stocks[1]!.deduct(2, { orderId: 'x', routeBy: one! })).toMatchObject({ parts });
    };
    expect(await stock.refund('x')).toBe(true);
    expect([ledger.levels, ledger.unitsTaken]).toEqual([[3, 3], 0]);
  });

  it('and fails leaves a leftover without units, which a recovery removes', async () => {
    const { stock, ledger } = openLeasedStock([3]);
    await stock.deduct(3, { orderId: 'x' });
    expect(await stock.refund('x')).toBe(true);
    const broken = new Error('the database is down');
    ledger.before = () => Promise.reject(broken);
    await expect(stock.refund('x')).rejects.toBe(broken);
    ledger.before = async () => {};
    expect(await stock.leftovers()).toMatchObject([{ orderId: 'x', units: 3 }]);
    expect(await stock.recover()).toBe(0);
    expect([ledger.levels, await stock.leftovers()]).toEqual([[3], []]);
  });
});

describe('an order that a former version has left open', () => {
  /** An open order as it was recorded before each attempt had a name, and another that can be recovered. */
  async function formerOrder() {
    const opened = openDoomedStock([4]);
    const { ledger, records, stock, die, begin, expire } = opened;
    await records.write([{ name: 'stock/sku/open/old', value: '{"units":1,"segments":[0]}', ifVersion: 'absent' }]);
    ledger.after = () => die();
    begin(() => stock.deduct(3, { orderId: 'left' }));
    await expire();
    ledger.after = async () => {};
    return opened;
  }
  const refused = /order "old" was left open by a former version.*call recover\(\) with that version/;

  it('is listed, and refused by recover(), which puts the others back', async () => {
    const { survivor, ledger } = await formerOrder();
    await expect(survivor.recover()).rejects.toThrow(refused);
    expect(ledger.units).toBe(4);
    expect((await survivor.leftovers()).map(({ orderId }) => orderId)).toEqual(['old']);
  });

  it.each([
    ['deduct', (stock: SegmentedStock) => stock.deduct(1, { orderId: 'old' })],
    ['refund', (stock: SegmentedStock) => stock.refund('old')],
  ])('is refused by %s at once', async (_what, call) => {
    const { survivor } = await formerOrder();
    await expect(call(survivor)).rejects.toThrow(refused);
    await expect(call(survivor)).rejects.toBeInstanceOf(LockConfigurationError);
  });

  it('and refunded is refused before anything is put back', async () => {
    const { survivor, records, ledger } = await formerOrder();
    await records.write([{ name: 'stock/sku/orders/old', value: '{"state":"refunded","parts":[]}' }]);
    const calls = ledger.calls.length;
    await expect(survivor.refund('old')).rejects.toThrow(refused);
    expect(ledger.calls).toHaveLength(calls);
  });
});

describe('a stock with fewer segments than before', () => {
  const noSegment = (segment: number) => new RegExp(`"sku" has no segment ${segment} any more.*"x".*resize`);

  it('refuses to refund an order from a removed segment, and goes on', async () => {
    const { stock, shops, ledger } = openLeasedStock([0, 0, 0, 5]);
    const sale = await stock.deduct(2, { orderId: 'x' });
    expect(sale?.parts).toEqual([{ segment: 3, units: 2 }]);
    expect(await stock.recover()).toBe(0);
    const lock = shops[0]!.segmented('sku', { segments: 4 });
    await lock.resize(2, () => void ledger.levels.splice(0, 4, 3, 0));

    await expect(stock.refund('x')).rejects.toThrow(noSegment(3));
    await expect(stock.refund('x')).rejects.toThrow(LockConfigurationError);
    expect(await stock.leftovers()).toEqual([]);
    expect(await stock.deduct(2, { orderId: 'x' })).toEqual(sale);
    expect((await stock.deduct(3))?.units).toBe(3);
    expect(await stock.deduct(1)).toBeNull();

    await lock.resize(4);
    expect(await stock.refund('x')).toBe(true);
    expect(ledger.units).toBe(2);
  });

  it.each([
    ['refund', (stock: SegmentedStock) => stock.refund('x')],
    ['restock', (stock: SegmentedStock) => stock.restock(4, { restockId: 'x' })],
  ])('refuses a %s that waited for a segment while it was removed', async (what, call) => {
    const { stock, shops, ledger, backend } = openLeasedStock([0, 0, 0, 2], {}, 2);
    await stock.deduct(2, { orderId: 'x' });
    const [isResizing, mayResize] = [deferred(), deferred()];
    const lock = shops[1]!.segmented('sku', { segments: 4 });
    const resize = lock.resize(3, () => {
      isResizing.resolve();
      return mayResize.promise;
    });
    await isResizing.promise;
    const segments = [0, 1, 2, 3].map((segment) => `sku/#000${segment}`);
    const refused = expect(call(stock)).rejects.toThrow(noSegment(3));
    await eventually(() => segments.some((key) => backend.contenders(key).length === 2), 'the call waits');
    mayResize.resolve();
    await resize;
    await refused;
    await lock.resize(4);
    await call(stock);
    expect(ledger.units + ledger.unitsTaken).toBe(what === 'refund' ? 2 : 6);
  });

  it('puts the units of a leftover back into the segments that there are', async () => {
    const { stock, ledger, die, begin, expire, survivor, shops } = openDoomedStock([2, 2]);
    let takes = 0;
    ledger.after = async (call) => {
      if (call === 'take' && ledger.unitsTaken > 0 && ++takes === 2) await die();
    };
    begin(() => stock.deduct(4, { orderId: 'x' }));
    await expire();
    ledger.after = async () => {};
    ledger.calls.length = 0;
    const lock = shops[0]!.segmented('sku', { segments: 2 });
    await lock.resize(1);
    await expect(survivor.recover()).rejects.toThrow(noSegment(1));
    expect(ledger.levels).toEqual([2, 0]);
    await lock.resize(2);
    expect(await survivor.recover()).toBe(2);
    expect(ledger.levels).toEqual([2, 2]);
  });

  it('puts the rest of a refund back into the segments that there are', async () => {
    const { stock, shops, ledger } = openLeasedStock([2, 2, 2]);
    await stock.deduct(6, { orderId: 'x' });
    const broken = new Error('the database is down');
    ledger.before = () => Promise.reject(broken);
    await expect(stock.refund('x')).rejects.toBe(broken);
    ledger.before = async () => {};
    const lock = shops[0]!.segmented('sku', { segments: 3 });
    await lock.resize(2);
    await expect(stock.refund('x')).rejects.toThrow(noSegment(2));
    expect(ledger.levels).toEqual([2, 2, 0]);
    await lock.resize(3);
    expect(await stock.refund('x')).toBe(true);
    expect(ledger.levels).toEqual([2, 2, 2]);
  });
});

describe('a delivery that is repeated', () => {
  it('after the number of segments has changed adds nothing', async () => {
    const { stock, shops, ledger } = openLeasedStock([0, 0]);
    await stock.restock(100, { restockId: 'd7' });
    const lock = shops[0]!.segmented('sku', { segments: 2 });
    await lock.resize(4, () => void ledger.levels.splice(0, 4, 25, 25, 25, 25));
    await stock.restock(100, { restockId: 'd7' });
    expect(ledger.levels).toEqual([25, 25, 25, 25]);
    await stock.restock(4, { restockId: 'd8' });
    expect(ledger.levels).toEqual([26, 26, 26, 26]);
  });

  it('after it failed half way adds the rest, also to more segments than there were', async () => {
    const { stock, shops, ledger } = openLeasedStock([0, 0]);
    const broken = new Error('the database is down');
    ledger.before = async (_call, { segment }) => {
      if (segment === 1) throw broken;
    };
    await expect(stock.restock(100, { restockId: 'd7' })).rejects.toBe(broken);
    ledger.before = async () => {};
    await shops[0]!.segmented('sku', { segments: 2 }).resize(4);
    await stock.restock(100, { restockId: 'd7' });
    expect(ledger.units).toBe(100);
  });

  it('is refused when one of its segments was removed', async () => {
    const { stock, shops, ledger } = openLeasedStock([0, 0, 0]);
    await stock.restock(2, { restockId: 'small' });
    await stock.restock(9, { restockId: 'd7' });
    await shops[0]!.segmented('sku', { segments: 3 }).resize(2, () => void ledger.levels.splice(0, 3, 6, 5));
    await expect(stock.restock(9, { restockId: 'd7' })).rejects.toThrow(LockConfigurationError);
    await expect(stock.restock(9, { restockId: 'd7' })).rejects.toThrow(/"sku" has no segment 2 any more.*"d7"/);
    await stock.restock(2, { restockId: 'small' });
    expect(ledger.levels).toEqual([6, 5]);
  });

  it('with another number of units is refused, and adds nothing', async () => {
    const { stock, ledger } = openLeasedStock([0]);
    await stock.restock(100, { restockId: 'd7' });
    await expect(stock.restock(50, { restockId: 'd7' })).rejects.toThrow(/"d7" was of 100 units, not 50/);
    await expect(stock.restock(50, { restockId: 'd7' })).rejects.toBeInstanceOf(LockConfigurationError);
    expect(ledger.units).toBe(100);
  });

  it('where the units are kept elsewhere by now is refused, and adds nothing', async () => {
    const { stock, shops, ledger } = openLeasedStock([0]);
    const builtIn = shops[0]!.stock('sku', { segments: 1 });
    await builtIn.restock(100, { restockId: 'd7' });
    await expect(stock.restock(100, { restockId: 'd7' })).rejects.toThrow(/"d7" was added to the built-in stock/);
    await stock.restock(7, { restockId: 'd8' });
    await expect(builtIn.restock(7, { restockId: 'd8' })).rejects.toThrow(/"d8" was added to a store of your own/);
    expect([ledger.units, await builtIn.available()]).toEqual([7, 100]);
  });

  it('is a new one after it was forgotten', async () => {
    const { stock, records } = openLeasedStock([0, 0]);
    await stock.restock(100, { restockId: 'd7' });
    expect(await records.list('stock/sku/restocks')).toEqual(['d7']);
    expect(await stock.forget({ olderThanMs: 0 })).toBe(1);
    expect(await records.list('stock/sku/restocks')).toEqual([]);
  });
});
