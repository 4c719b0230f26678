import { describe, expect, it } from 'vitest';
import { LockConfigurationError, LockTimeoutError, LockUnavailableError } from '../../../lib/contract/errors.js';
import type { Deduction } from '../../../lib/stock/deduction.js';
import type { SegmentedStock } from '../../../lib/stock/segmented-stock.js';
import type { StockOptions } from '../../../lib/stock/stock.options.js';
import { openShops } from './shops.js';
import { connectionOf } from '../../../lib/service/lock.service.js';

/** One stock, opened by several processes. */
async function openStock(units: number, options: Partial<StockOptions> = {}, processes = 1) {
  const { backend, shops } = openShops(processes);
  const stocks = shops.map((shop) => shop.stock('sku', { segments: 4, ...options }));
  const [stock] = stocks as [SegmentedStock];
  if (units > 0) await stock.restock(units);
  const { records } = backend;
  return { stock, stocks, shops, records };
}

const unitsOf = (deductions: readonly (Deduction | null)[]) =>
  deductions.reduce((sum, deduction) => sum + (deduction?.units ?? 0), 0);

describe('a stock kept in records', () => {
  it('sells to the last unit and not one more, to buyers in several processes', async () => {
    const { stocks, stock } = await openStock(300, { segments: 3 }, 4);
    const buyers = Array.from({ length: 500 }, (_, buyer) => stocks[buyer % 4]!.deduct(1));
    const sold = (await Promise.all(buyers)).filter((deduction) => deduction !== null);
    expect(sold).toHaveLength(300);
    expect(new Set(sold.map(({ orderId }) => orderId)).size).toBe(300);
    expect(await stock.available()).toBe(0);
  });

  it('refuses no buyer while there is enough', async () => {
    const { stocks, stock } = await openStock(1_000, { segments: 16 }, 4);
    const orders = Array.from({ length: 260 }, (_, buyer) => (buyer % 10) + 1);
    const denied: number[] = [];
    const sales = orders.map(async (quantity, buyer) => {
      const deduction = await stocks[buyer % 4]!.deduct(quantity);
      if (!deduction) denied.push(quantity);
      return deduction;
    });
    const sold = unitsOf(await Promise.all(sales));
    const left = await stock.available();
    expect(sold + left).toBe(1_000);
    expect(denied.length).toBeGreaterThan(0);
    expect(left).toBeLessThan(Math.min(...denied));
  });

  it('is empty before the first delivery, and separate for every key', async () => {
    const { stock, shops } = await openStock(0);
    expect(await stock.deduct(1)).toBeNull();
    expect(await stock.available()).toBe(0);
    const others = ['sku/1', 'sku/orders', 'sku%2F1', 'a/b/c'].map((key) => shops[0]!.stock(key, { segments: 2 }));
    for (const [place, other] of others.entries()) await other.restock(place + 1);
    expect(await Promise.all(others.map((other) => other.available()))).toEqual([1, 2, 3, 4]);
    expect(await stock.available()).toBe(0);
  });

  it('goes from a dry segment to the next', async () => {
    const { stock } = await openStock(8);
    const parts = [];
    for (let buyer = 0; buyer < 8; buyer++)
      parts.push(...((await stock.deduct(1, { routeBy: 'all alike' }))?.parts ?? []));
    expect(parts).toHaveLength(8);
    expect(await stock.deduct(1, { routeBy: 'all alike' })).toBeNull();
  });

  it('splits an order that is larger than a segment, unless split is false', async () => {
    const { stock } = await openStock(40);
    expect(await stock.deduct(25, { split: false })).toBeNull();
    const deduction = await stock.deduct(25, { orderId: 'large' });
    expect(deduction).toMatchObject({ orderId: 'large', units: 25 });
    expect(deduction?.parts.map(({ units }) => units)).toEqual([10, 10, 5]);
    expect(await stock.available()).toBe(15);
  });

  it('moves the remaining units to fewer segments as it falls', async () => {
    const { stock, records } = await openStock(9, { segments: 8, mergeBelow: 8 });
    const filled = async () => {
      const names = (await records.list('stock/sku')).filter((name) => /^\d+$/.test(name));
      const units = await Promise.all(
        names.map(async (name) => Number((await records.read(`stock/sku/${name}`))?.value)),
      );
      return units.filter((level) => level > 0).length;
    };
    expect(await filled()).toBe(8);
    await stock.deduct(1);
    expect(await filled()).toBe(1);
    expect((await stock.deduct(8, { split: false }))?.parts).toHaveLength(1);
  });

  it('writes to few busy segments when writes to many always conflict', async () => {
    const { stock, records } = await openStock(9, { segments: 8, mergeBelow: 8, waitMs: 5_000 });
    const isSegment = ({ name }: { name: string }) => /\/\d{4}$/.test(name);
    records.beforeWrite = async (changes) => {
      const [busy, ...others] = changes.filter(isSegment);
      if (!busy || others.length === 0 || busy.ifVersion === undefined) return;
      const now = await records.read(busy.name);
      await records.write([{ name: busy.name, value: now?.value ?? '0' }]);
    };
    expect((await stock.deduct(1))?.parts).toHaveLength(1);
    await stock.restock(4);
    records.beforeWrite = async () => {};
    expect(await stock.available()).toBe(12);
  });

  it('serves concurrent callers in few writes', async () => {
    const { stock, records } = await openStock(400);
    const before = records.writes.length;
    await Promise.all(Array.from({ length: 100 }, () => stock.deduct(1)));
    expect(records.writes.length - before).toBeLessThanOrEqual(5);
    expect(await stock.available()).toBe(300);
  });

  it('is shared by all objects of one process with the same key', async () => {
    const { shops, records } = await openStock(10);
    await Promise.all(Array.from({ length: 10 }, () => shops[0]!.stock('sku', { segments: 4 }).deduct(1)));
    expect(records.writes.length).toBeLessThanOrEqual(3);
  });
});

describe('an order id', () => {
  it('is sold once, however often it is ordered', async () => {
    const { stocks, stock } = await openStock(100, {}, 3);
    const again = () => Promise.all(stocks.flatMap((one) => [1, 2, 3].map(() => one.deduct(3, { orderId: 'twice' }))));
    const [first, ...others] = [...(await again()), ...(await again())];
    expect(first?.units).toBe(3);
    others.forEach((other) => expect(other).toEqual(first));
    expect(await stock.available()).toBe(97);
  });

  it('is still reported as sold when nothing is left', async () => {
    const { stock, stocks } = await openStock(3, {}, 2);
    const deduction = await stock.deduct(3, { orderId: 'last' });
    expect(await stock.deduct(1)).toBeNull();
    expect(await stocks[1]!.deduct(3, { orderId: 'last' })).toEqual(deduction);
    expect(await stocks[1]!.deduct(3, { orderId: 'too late' })).toBeNull();
  });

  it('can be ordered again after it was denied', async () => {
    const { stock } = await openStock(1);
    expect(await stock.deduct(2, { orderId: 'patient' })).toBeNull();
    await stock.restock(1);
    expect((await stock.deduct(2, { orderId: 'patient' }))?.units).toBe(2);
  });

  it('that is forgotten while it is ordered again is a new one, and not sold out', async () => {
    const { stock, records } = await openStock(10);
    await stock.deduct(2, { orderId: 'x' });
    const read = records.read.bind(records);
    records.read = async (name) => {
      records.read = read;
      await stock.forget({ olderThanMs: 0 });
      return read(name);
    };
    expect((await stock.deduct(2, { orderId: 'x' }))?.units).toBe(2);
    expect(await stock.available()).toBe(6);
  });

  it('identifies one order only', async () => {
    const { stock } = await openStock(10);
    await stock.deduct(2, { orderId: 'one' });
    await expect(stock.deduct(3, { orderId: 'one' })).rejects.toThrow(/"one" was of 2 units, not 3/);
    await stock.refund('one');
    await expect(stock.deduct(2, { orderId: 'one' })).rejects.toThrow(/"one" was refunded/);
    expect(await stock.available()).toBe(10);
  });

  it('can be any short text', async () => {
    const { stock } = await openStock(10);
    for (const orderId of ['.', '..', 'a/b', '100%', '%2F', 'ä 🙂']) {
      const deduction = await stock.deduct(1, { orderId });
      expect(await stock.deduct(1, { orderId })).toEqual(deduction);
    }
    expect(await stock.available()).toBe(4);
  });
});

describe('a refund', () => {
  it('gives units back once, for concurrent callers', async () => {
    const { stocks, stock } = await openStock(10, {}, 3);
    const deduction = await stock.deduct(7);
    const refunds = await Promise.all(
      stocks.flatMap((one) => [one.refund(deduction!), one.refund(deduction!.orderId)]),
    );
    expect(refunds.filter((isRefunded) => isRefunded)).toHaveLength(1);
    expect(await stock.available()).toBe(10);
    expect(await stock.refund(deduction!)).toBe(false);
  });

  it('of an unknown order prevents that order later', async () => {
    const { stock } = await openStock(10);
    expect(await stock.refund('lost')).toBe(false);
    await expect(stock.deduct(1, { orderId: 'lost' })).rejects.toThrow(LockConfigurationError);
    expect(await stock.available()).toBe(10);
  });
});

describe('a delivery', () => {
  it('is spread over the segments, together with the remaining units', async () => {
    const { stock, records } = await openStock(40);
    await stock.deduct(9, { routeBy: 1 });
    await stock.restock(10);
    const units = await Promise.all([0, 1, 2, 3].map(async (n) => (await records.read(`stock/sku/000${n}`))?.value));
    expect(units).toEqual(['11', '10', '10', '10']);
  });

  it('counts once', async () => {
    const { stock, stocks } = await openStock(0, {}, 2);
    const lorry = { restockId: 'lorry' };
    await Promise.all([...stocks, ...stocks].map((one) => one.restock(10, lorry)));
    expect(await stock.available()).toBe(10);
    await expect(stock.restock(9, lorry)).rejects.toThrow(/"lorry" was of 10 units, not 9/);
    await expect(stock.restock(9, lorry)).rejects.toBeInstanceOf(LockConfigurationError);
    expect(await stock.available()).toBe(10);
  });

  it('that is forgotten while it is repeated is a new one', async () => {
    const { stock, records } = await openStock(0);
    await stock.restock(10, { restockId: 'lorry' });
    const read = records.read.bind(records);
    records.read = async (name) => {
      records.read = read;
      await stock.forget({ olderThanMs: 0 });
      return read(name);
    };
    await stock.restock(10, { restockId: 'lorry' });
    expect(await stock.available()).toBe(20);
    await stock.restock(10, { restockId: 'lorry' });
    expect(await stock.available()).toBe(20);
  });

  it('applies a new number of segments, and leaves no units in the old ones', async () => {
    const { shops, records } = await openStock(16, { segments: 8 });
    const fewer = shops[0]!.stock('sku', { segments: 2 });
    await fewer.restock(2);
    expect((await records.read('stock/sku/0000'))?.value).toBe('9');
    expect((await records.read('stock/sku/0007'))?.value).toBe('0');
    const more = shops[0]!.stock('sku', { segments: 16 });
    await more.restock(14);
    expect((await records.read('stock/sku/0015'))?.value).toBe('2');
    expect(unitsOf(await Promise.all(Array.from({ length: 40 }, () => fewer.deduct(1))))).toBe(32);
  });
});

describe('the number of available units', () => {
  it('is read at one moment: no moving unit is missed or counted twice', async () => {
    const { stocks, stock } = await openStock(100, { segments: 8 }, 3);
    let isOver = false;
    const move = async (other: SegmentedStock) => {
      while (!isOver) await other.refund((await other.deduct(40))!);
    };
    const movers = [stocks[1]!, stocks[2]!].map(move);
    for (let count = 0; count < 10; count++) expect([20, 60, 100]).toContain(await stock.available());
    isOver = true;
    await Promise.all(movers);
    expect(await stock.available()).toBe(100);
  });
});

describe('a call that cannot be served', () => {
  it('times out while other writers are always faster, and does not report sold out', async () => {
    const { stock, records } = await openStock(10, { waitMs: 200 });
    const version = async () => (await records.read('stock/sku/0000'))?.version ?? 0;
    const [before] = [await version()];
    let count = 0;
    records.beforeWrite = async (changes) => {
      if (changes.length === 1 && !changes[0]!.name.includes('orders')) return;
      const all = [0, 1, 2, 3].map((n) => ({ name: `stock/sku/000${n}`, value: String(++count) }));
      for (const change of all) await records.write([change]);
    };
    await expect(stock.deduct(1)).rejects.toThrow(LockTimeoutError);
    expect(await version()).toBeGreaterThan(before);
    records.beforeWrite = async () => {};
    expect((await stock.deduct(1))?.units).toBe(1);
  });

  it.each([
    ['repeated deduct', (stock: SegmentedStock) => stock.deduct(1, { orderId: 'x', waitMs: 20 })],
    ['sold-out deduct', (stock: SegmentedStock) => stock.deduct(100, { orderId: 'x', waitMs: 20 })],
    ['repeated restock', (stock: SegmentedStock) => stock.restock(1, { restockId: 'x', waitMs: 20 })],
  ])('times out while it reads the record of an earlier call: %s', async (_what, call) => {
    const { stock, records } = await openStock(10);
    await stock.restock(1, { restockId: 'x' });
    await stock.deduct(1, { orderId: 'x' });
    records.isHanging = (name) => /\/(?:orders|restocks)\//.test(name);
    await expect(call(stock)).rejects.toThrow(LockTimeoutError);
    expect(await stock.available()).toBe(10);
  });

  it('times out while a refund reads what a server does not answer', async () => {
    const { stock, records } = await openStock(10);
    records.read = () => new Promise(() => {});
    await expect(stock.refund('x', { waitMs: 20 })).rejects.toThrow(LockTimeoutError);
  });

  it('rejects with the caller’s own reason, unless its write is in progress', async () => {
    const { stock, records } = await openStock(10);
    await expect(stock.deduct(1, { signal: AbortSignal.abort(new Error('early')) })).rejects.toThrow('early');
    const abort = new AbortController();
    const reason = new Error('mine');
    records.beforeWrite = async () => abort.abort(reason);
    const first = stock.deduct(1, { signal: abort.signal });
    expect((await first)?.units).toBe(1);

    const late = new AbortController();
    records.beforeWrite = async () => late.abort(reason);
    const writing = stock.deduct(1);
    const inLine = Array.from({ length: 40 }, () => stock.deduct(1, { signal: late.signal }));
    const outcomes = await Promise.allSettled(inLine);
    expect((await writing)?.units).toBe(1);
    const refused = outcomes.filter(({ status }) => status === 'rejected');
    expect(refused.length).toBeGreaterThan(0);
    refused.forEach((one) => expect(one).toMatchObject({ reason }));
    records.beforeWrite = async () => {};
    expect(await stock.available()).toBe(
      10 - 2 - outcomes.filter((one) => one.status === 'fulfilled' && one.value).length,
    );
  });

  it('is not repeated when its caller gave up during a write that failed', async () => {
    const { stock, records } = await openStock(10);
    const abort = new AbortController();
    records.beforeWrite = async (changes) => {
      records.beforeWrite = async () => {};
      abort.abort(new Error('mine'));
      for (const { name } of changes) await records.write([{ name, value: (await records.read(name))?.value ?? '' }]);
    };
    const order = stock.deduct(1, { orderId: 'x', signal: abort.signal });
    await expect(order).rejects.toThrow('mine');
    records.beforeWrite = async () => {};
    expect(await stock.available()).toBe(10);
  });

  it('rejects when the servers are unavailable, and the next call is served', async () => {
    const { stock, records } = await openStock(10);
    const down = new LockUnavailableError('down');
    records.beforeWrite = () => Promise.reject(down);
    await expect(Promise.all([stock.deduct(1), stock.deduct(1)])).rejects.toBe(down);
    records.beforeWrite = async () => {};
    expect((await stock.deduct(1))?.units).toBe(1);
  });

  it('is refused without the calls that were written with it', async () => {
    const { stock, records } = await openStock(10);
    const tooLong = new LockConfigurationError('the path is too long');
    records.beforeWrite = async (changes) => {
      if (changes.some(({ name }) => name.endsWith('/orders/long'))) throw tooLong;
    };
    const orders = ['a', 'long', 'b'].map((orderId) => stock.deduct(1, { orderId }));
    const [first, refused, last] = await Promise.allSettled(orders);
    expect([first, last]).toMatchObject([{ value: { units: 1 } }, { value: { units: 1 } }]);
    expect(refused).toEqual({ status: 'rejected', reason: tooLong });
    expect(await stock.available()).toBe(8);
  });

  it('is not repeated when its caller gave up while it was refused together with others', async () => {
    const { stock, records } = await openStock(10);
    const abort = new AbortController();
    records.beforeWrite = async (changes) => {
      if (!changes.some(({ name }) => name.endsWith('/orders/long'))) return;
      abort.abort(new Error('mine'));
      throw new LockConfigurationError('the path is too long');
    };
    const order = stock.deduct(1, { orderId: 'x', signal: abort.signal });
    const refused = expect(stock.deduct(1, { orderId: 'long' })).rejects.toThrow('the path is too long');
    await expect(order).rejects.toThrow('mine');
    await refused;
    expect(await stock.available()).toBe(10);
  });

  it('may have been served when its reply was lost, which its id shows', async () => {
    const { stock, records } = await openStock(10);
    const lost = new LockUnavailableError('not known');
    records.afterWrite = () => Promise.reject(lost);
    await expect(stock.deduct(4, { orderId: 'a' })).rejects.toBe(lost);
    await expect(stock.deduct(4, { orderId: 'b' })).rejects.toBe(lost);
    records.afterWrite = async () => {};
    expect((await stock.deduct(4, { orderId: 'a' }))?.units).toBe(4);
    expect(await stock.refund('b')).toBe(true);
    expect(await stock.available()).toBe(6);
  });
});

describe('a record of a stock', () => {
  it('can be forgotten: orders and deliveries, not units', async () => {
    const { stock, records } = await openStock(10);
    const { orderId } = (await stock.deduct(1))!;
    await stock.deduct(1, { orderId: 'a/b' });
    expect(await stock.forget({ olderThanMs: 60_000 })).toBe(0);
    expect(await stock.forget({ olderThanMs: 0 })).toBe(3);
    expect(await stock.refund(orderId)).toBe(false);
    expect(await records.list('stock/sku/restocks')).toEqual([]);
    expect(await stock.available()).toBe(8);
    expect(await stock.leftovers()).toEqual([]);
    expect(await stock.recover()).toBe(0);
  });

  it('is refused when other software wrote it', async () => {
    const { stock, shops } = await openStock(10);
    await connectionOf(shops[0]!).backend.records.write([{ name: 'stock/sku/0001', value: 'many' }]);
    const fresh = openShops(1).shops[0]!;
    await connectionOf(fresh).backend.records.write([{ name: 'stock/sku', value: 'nonsense' }]);
    await expect(fresh.stock('sku', { segments: 1 }).deduct(1)).rejects.toThrow(/"stock\/sku" was not written by this/);
    await expect(stock.available()).rejects.toThrow(/"stock\/sku\/0001" is no number of units/);
  });

  it.each(['{"count":4}', '{"segments":0}', '{"segments":-1}', '{"segments":1025}', '{"segments":5e9}'])(
    'is refused when it is no number of segments: %s',
    async (value) => {
      const { stock, records } = await openStock(0);
      await records.write([{ name: 'stock/sku', value }]);
      await expect(stock.deduct(1)).rejects.toThrow(/"stock\/sku" is no number of segments/);
    },
  );
});

describe('bad input', () => {
  const stockWith = (options: object) => () => openShops(1).shops[0]!.stock('sku', options as StockOptions);

  it.each([
    [{}, /segments must be a whole number from 1 to 1024, got undefined/],
    [{ segments: 0 }, /segments must be/],
    [{ segments: 4, split: 'no' }, /split must be true or false/],
    [{ segments: 4, waitMs: 0 }, /waitMs must be/],
    [{ segments: 4, mergeBelow: 0.5 }, /mergeBelow must be/],
    [{ segments: 4, store: { take: () => 1 } }, /store must be an object with take and putBack/],
    [{ segments: 4, merge: 1 }, /unknown field "merge"/],
  ])('is refused for a stock: %j', (options, message) => {
    expect(stockWith(options)).toThrow(LockConfigurationError);
    expect(stockWith(options)).toThrow(message);
  });

  it('is refused for a key', () => {
    expect(() => openShops(1).shops[0]!.stock('/absolute', { segments: 1 })).toThrow(/must not be an absolute path/);
  });

  it.each([
    ['quantity', (stock: SegmentedStock) => stock.deduct(0)],
    ['quantity', (stock: SegmentedStock) => stock.deduct(1.5)],
    ['orderId', (stock: SegmentedStock) => stock.deduct(1, { orderId: '' })],
    ['orderId', (stock: SegmentedStock) => stock.deduct(1, { orderId: 'x'.repeat(201) })],
    ['orderId', (stock: SegmentedStock) => stock.deduct(1, { orderId: 'half a pair \ud83d' })],
    ['routeBy', (stock: SegmentedStock) => stock.deduct(1, { routeBy: NaN })],
    ['split', (stock: SegmentedStock) => stock.deduct(1, { split: 1 as unknown as boolean })],
    ['waitMs', (stock: SegmentedStock) => stock.deduct(1, { waitMs: 0 })],
    ['signal', (stock: SegmentedStock) => stock.available({ signal: {} as AbortSignal })],
    ['unknown field "orderID"', (stock: SegmentedStock) => stock.deduct(1, { orderID: 'x' } as object)],
    ['units', (stock: SegmentedStock) => stock.restock(-1)],
    ['restockId', (stock: SegmentedStock) => stock.restock(1, { restockId: '' })],
    ['orderId', (stock: SegmentedStock) => stock.refund('')],
    ['orderId', (stock: SegmentedStock) => stock.refund(null as unknown as string)],
    ['olderThanMs', (stock: SegmentedStock) => stock.forget({ olderThanMs: -1 })],
    ['forget options', (stock: SegmentedStock) => stock.forget(undefined as never)],
  ])('is refused for a call, before anything is written: %s', async (field, call) => {
    const { stock, records } = await openStock(1);
    const before = records.writes.length;
    await expect(call(stock)).rejects.toThrow(LockConfigurationError);
    await expect(call(stock)).rejects.toThrow(field);
    expect(records.writes).toHaveLength(before);
  });
});
