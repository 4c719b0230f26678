import { describe, expect, it } from 'vitest';
import type { SegmentedStock } from '../../../lib/stock/segmented-stock.js';
import type { StockOptions } from '../../../lib/stock/stock.options.js';
import { openShops } from './shops.js';

/** One stock of 200 segments, opened by several processes, whose writes have at most 127 changes. */
async function openStock(deliveries: readonly number[], options: Partial<StockOptions> = {}) {
  const { backend, shops } = openShops(3);
  const { records } = backend;
  records.mostChanges = 127;
  const stocks = shops.map((shop) => shop.stock('sku', { segments: 200, ...options }));
  const [stock] = stocks as [SegmentedStock];
  for (const units of deliveries) await stock.restock(units);
  const levels = async () => {
    const numbers = (await records.list('stock/sku')).filter((name) => /^\d+$/.test(name)).sort();
    const found = await records.readAll(numbers.map((number) => `stock/sku/${number}`));
    return found.map((record) => Number(record?.value));
  };
  return { stock, stocks, shops, records, levels };
}

/** Buys one unit each, from as many segments. */
const buyers = (stocks: readonly SegmentedStock[], count: number) =>
  Array.from({ length: count }, (_, buyer) => stocks[buyer % stocks.length]!.deduct(1, { routeBy: buyer }));

describe('a stock of more segments than one write may change', () => {
  it('is restocked and sold', async () => {
    const { stock, records } = await openStock([1_000]);
    expect((await stock.deduct(1))?.units).toBe(1);
    expect(await stock.available()).toBe(999);
    expect(Math.max(...records.writes.map((changes) => changes.length))).toBeLessThanOrEqual(127);
  });

  it('is spread over all segments by later deliveries', async () => {
    const { levels } = await openStock([500, 500]);
    expect(await levels()).toEqual(Array.from({ length: 200 }, () => 5));
  });

  it.each([1, 100])('takes deliveries for %i segments, and keeps the units of the others', async (segments) => {
    const { stock, shops, levels } = await openStock([500, 500]);
    await shops[1]!.stock('sku', { segments }).restock(1_000);
    expect(await stock.available()).toBe(2_000);
    expect((await levels()).slice(segments)).toEqual(Array.from({ length: 200 - segments }, () => 5));
    expect((await stock.deduct(2_000))?.units).toBe(2_000);
  });

  it('is sold while its units cannot be moved to fewer segments at once', async () => {
    const { stock, levels } = await openStock([100, 100]);
    expect((await stock.deduct(1))?.units).toBe(1);
    expect(await stock.available()).toBe(199);
    expect((await levels()).filter((units) => units > 0)).toHaveLength(199);
  });

  it.each([1, 3])('serves many concurrent buyers then, in %i processes', async (processes) => {
    const { stock, stocks } = await openStock([100, 100]);
    const sold = await Promise.all(buyers(stocks.slice(0, processes), 150));
    expect(sold.filter((sale) => sale?.units === 1)).toHaveLength(150);
    expect(await stock.available()).toBe(50);
    // Few units are left in many segments, which fit into a write now.
    expect((await stock.deduct(49))?.units).toBe(49);
  });

  it('serves deliveries, orders and refunds together', async () => {
    const { stock } = await openStock([100, 100]);
    const sales = await Promise.all(buyers([stock], 20));
    await Promise.all([
      ...buyers([stock], 25),
      stock.restock(1_000),
      ...sales.map((sale) => stock.refund(sale!)),
      ...buyers([stock], 25),
      stock.restock(1_000),
    ]);
    expect(await stock.available()).toBe(2_150);
  });
});

describe('a call that changes as many segments as one write may have changes', () => {
  // The record of the call itself would be one too many.
  it.each([
    ['an order after which units are moved', (stock: SegmentedStock) => stock.deduct(1), 126],
    ['an order of all units', (stock: SegmentedStock) => stock.deduct(127), 0],
    ['a delivery', (stock: SegmentedStock) => stock.restock(127), 254],
  ])('is served: %s', async (_what, call, left) => {
    const { stock, levels } = await openStock([64, 63], { segments: 127 });
    expect(await levels()).toEqual(Array.from({ length: 127 }, () => 1));
    await call(stock);
    expect(await stock.available()).toBe(left);
  });

  it('is not written together with another', async () => {
    const { stock, records } = await openStock([63, 63], { segments: 126, mergeBelow: 1 });
    for (const orderId of ['a', 'b']) expect((await stock.deduct(63, { orderId }))?.parts).toHaveLength(63);
    // The refunds arrive while the units are counted, so they are served together.
    expect(await Promise.all([stock.available(), stock.refund('a'), stock.refund('b')])).toEqual([0, true, true]);
    expect(Math.max(...records.writes.map((changes) => changes.length))).toBeLessThanOrEqual(127);
  });
});

describe('a stock of 1,024 segments with a key of 1,000 characters', () => {
  it('is restocked and sold, in writes that every server takes', async () => {
    const { backend, shops } = openShops(1);
    const stock = shops[0]!.stock('k'.repeat(1_000), { segments: 1_024, mergeBelow: 1 });
    for (let delivery = 0; delivery < 8; delivery++) await stock.restock(128);
    expect(await stock.available()).toBe(1_024);
    expect((await stock.deduct(1_000))?.units).toBe(1_000);
    expect(await stock.available()).toBe(24);
    const bytes = (text: unknown) => (typeof text === 'string' ? text.length : 0);
    const sizes = backend.records.writes.map((changes) =>
      changes.reduce((sum, { name, value }) => sum + bytes(name) + bytes(value), 0),
    );
    expect(Math.max(...sizes)).toBeLessThanOrEqual(256 * 1_024);
  });
});

describe('orders from a thousand segments each', () => {
  it('are refunded together, in as many writes as that takes', async () => {
    const { shops } = openShops(1);
    const stock = shops[0]!.stock('sku', { segments: 1_024, mergeBelow: 1 });
    const orders = Array.from({ length: 24 }, (_, order) => `order ${order}`);
    for (const orderId of orders) {
      await stock.restock(1_024);
      expect((await stock.deduct(1_024, { orderId }))?.parts).toHaveLength(1_024);
    }
    const refunds = await Promise.all(orders.map((orderId) => stock.refund(orderId)));
    expect(refunds.every(Boolean)).toBe(true);
    expect(await stock.available()).toBe(24 * 1_024);
  });
});

describe('an order of units in more segments than one write may change', () => {
  it('is sold, and refunded', async () => {
    const { stock } = await openStock([500, 500]);
    const sale = await stock.deduct(990, { orderId: 'large' });
    expect(sale?.units).toBe(990);
    expect(await stock.available()).toBe(10);
    expect(await stock.deduct(990, { orderId: 'large' })).toEqual(sale);
    expect(await stock.refund('large')).toBe(true);
    expect(await stock.available()).toBe(1_000);
  });

  it('is sold from 1,024 segments', async () => {
    const { stock } = await openStock(
      Array.from({ length: 16 }, () => 64),
      { segments: 1_024, mergeBelow: 1 },
    );
    expect(await stock.deduct(1_025)).toBeNull();
    expect((await stock.deduct(1_000))?.units).toBe(1_000);
    expect((await stock.deduct(24))?.units).toBe(24);
    expect(await stock.deduct(1)).toBeNull();
  });

  it('is sold while other processes sell: no unit is lost, and none is sold twice', async () => {
    const { stock, stocks } = await openStock([500, 500], { waitMs: 20_000 });
    const sold = await Promise.all([stocks[1]!.deduct(800), ...buyers(stocks, 150), stocks[2]!.deduct(40)]);
    expect(sold.map((sale) => sale?.units)).toEqual([800, ...Array.from({ length: 150 }, () => 1), 40]);
    expect(await stock.available()).toBe(10);
  });

  it('leaves all units where they can be sold when its caller gives up on the way', async () => {
    const { stock, records } = await openStock([500, 500]);
    const abort = new AbortController();
    const reason = new Error('the caller gave up');
    records.beforeWrite = async () => abort.abort(reason);
    await expect(stock.deduct(990, { signal: abort.signal })).rejects.toBe(reason);
    expect(await stock.available()).toBe(1_000);
  });
});
