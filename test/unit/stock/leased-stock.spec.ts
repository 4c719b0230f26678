import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, it } from 'vitest';
import { deferred } from '../../../lib/async/deferred.js';
import type { RecordChange } from '../../../lib/contract/record-store.js';
import { LockConfigurationError, LockTimeoutError, LockUnavailableError } from '../../../lib/contract/errors.js';
import { currentLease } from '../../../lib/service/hold-scope.js';
import type { SegmentedStock } from '../../../lib/stock/segmented-stock.js';
import type { SegmentStore } from '../../../lib/stock/stock-keeper.js';
import { eventually } from '../../support/eventually.js';
import { openDoomedStock, openLeasedStock } from './leased-shops.js';
import { openShop } from './shops.js';

describe('a stock kept by a user-defined store', () => {
  it('sells to the last unit and not one more, to buyers in several processes', async () => {
    const { stocks, ledger, stock, records } = openLeasedStock([100, 100, 100], {}, 4);
    const buyers = Array.from({ length: 400 }, (_, buyer) => stocks[buyer % 4]!.deduct(1));
    const sold = (await Promise.all(buyers)).filter((deduction) => deduction !== null);
    expect(sold).toHaveLength(300);
    expect([ledger.units, ledger.unitsTaken]).toEqual([0, 300]);
    expect(await stock.available()).toBe(0);
    expect(await stock.leftovers()).toEqual([]);
    expect(await records.list('stock/sku/orders')).toHaveLength(300);
  });

  it('refuses no buyer while there is enough', async () => {
    const { stocks, ledger } = openLeasedStock(
      Array.from({ length: 16 }, () => 20),
      {},
      4,
    );
    const denied: number[] = [];
    const sales = Array.from({ length: 90 }, async (_, buyer) => {
      const quantity = (buyer % 10) + 1;
      const deduction = await stocks[buyer % 4]!.deduct(quantity);
      if (!deduction) denied.push(quantity);
      return deduction?.units ?? 0;
    });
    const sold = (await Promise.all(sales)).reduce((sum, units) => sum + units, 0);
    expect([sold, sold + ledger.units]).toEqual([ledger.unitsTaken, 320]);
    expect(denied.length).toBeGreaterThan(0);
    expect(ledger.units).toBeLessThan(Math.min(...denied));
  });

  it('takes under the lease of the segment, with its token, in the caller’s context', async () => {
    const context = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const { stock, ledger } = openLeasedStock([4]);
    ledger.before = async (call, { key, segment, fencingToken, signal }) => {
      const token = currentLease()?.fencingToken ?? fencingToken;
      seen.push([call, key, segment, token === fencingToken, signal.aborted, context.getStore()]);
    };
    await context.run('one segment', () => stock.deduct(3));
    await context.run('all segments', () => stock.deduct(2));
    const [one, ...others] = seen;
    expect(one).toEqual(['take', 'sku', 0, true, false, 'one segment']);
    expect(others).toEqual([
      ['take', 'sku', 0, true, false, 'all segments'],
      ['take', 'sku', 0, true, false, 'all segments'],
      ['putBack', 'sku', 0, true, false, 'all segments'],
    ]);
  });

  it('goes from a dry segment to the next, and does not retry the dry one at once', async () => {
    const { stock, ledger } = openLeasedStock([1, 0, 0, 5]);
    for (let buyer = 0; buyer < 6; buyer++) expect((await stock.deduct(1, { routeBy: 'x' }))?.units).toBe(1);
    expect(ledger.calls.filter((call) => call === 'take 1').length).toBeLessThanOrEqual(1);
    expect(await stock.deduct(1, { routeBy: 'x' })).toBeNull();
  });

  it('splits an order that is larger than a segment, unless split is false', async () => {
    const { stock, ledger } = openLeasedStock([10, 10, 10, 10]);
    expect(await stock.deduct(25, { split: false })).toBeNull();
    expect(ledger.levels).toEqual([10, 10, 10, 10]);
    const deduction = await stock.deduct(25);
    expect(deduction?.units).toBe(25);
    expect(deduction?.parts.map(({ units }) => units)).toEqual([10, 10, 5]);
    expect(ledger.units).toBe(15);
  });

  it('puts everything back when the last part of an order is not available', async () => {
    const { stock, ledger } = openLeasedStock([3, 2, 4]);
    expect(await stock.deduct(10)).toBeNull();
    expect(ledger.levels).toEqual([3, 2, 4]);
    expect(ledger.unitsTaken).toBe(0);
    expect(await stock.leftovers()).toEqual([]);
    expect((await stock.deduct(9))?.units).toBe(9);
  });

  it('refuses concurrent buyers of a sold-out stock with few calls', async () => {
    const { stock, ledger } = openLeasedStock(Array.from({ length: 8 }, () => 0));
    const outcomes = await Promise.all(Array.from({ length: 100 }, () => stock.deduct(2)));
    expect(outcomes.every((outcome) => outcome === null)).toBe(true);
    expect(ledger.calls.length).toBeLessThanOrEqual(40);
  });

  it('follows a new number of segments', async () => {
    const { stock, shops, ledger } = openLeasedStock([0, 0, 0, 1], {}, 2);
    const sale = await stock.deduct(1);
    expect(await stock.deduct(1)).toBeNull();
    // With this refund, all segments but number 3 are known to be dry.
    await stock.refund(sale!);
    await shops[1]!.segmented('sku', { segments: 4 }).resize(2, () => void ledger.levels.splice(0, 4, 3, 0));
    expect((await stock.deduct(1))?.parts).toEqual([{ segment: 0, units: 1 }]);
    await shops[1]!.segmented('sku', { segments: 4 }).resize(8, () => void (ledger.levels[7] = 3));
    expect((await stock.deduct(3))?.units).toBe(3);
  });

  it('finds units at once that were added to the store directly', async () => {
    const { stock, ledger } = openLeasedStock([0, 0, 0]);
    expect(await stock.deduct(1)).toBeNull();
    ledger.levels[2] = 1;
    expect((await stock.deduct(1))?.parts).toEqual([{ segment: 2, units: 1 }]);
  });
});

describe('an order id', () => {
  it('is sold once, however often it is ordered', async () => {
    const { stocks, ledger } = openLeasedStock([20, 20, 20], {}, 3);
    const again = () => Promise.all(stocks.flatMap((one) => [1, 2, 3].map(() => one.deduct(3, { orderId: 'twice' }))));
    const [first, ...others] = [...(await again()), ...(await again())];
    expect(first?.units).toBe(3);
    others.forEach((other) => expect(other).toEqual(first));
    expect([ledger.units, ledger.unitsTaken]).toEqual([57, 3]);
  });

  it('is still reported as sold when nothing is left, and identifies one order only', async () => {
    const { stocks, stock } = openLeasedStock([3], {}, 2);
    const deduction = await stock.deduct(3, { orderId: 'last' });
    expect(await stock.deduct(1)).toBeNull();
    expect(await stocks[1]!.deduct(3, { orderId: 'last' })).toEqual(deduction);
    await expect(stock.deduct(2, { orderId: 'last' })).rejects.toThrow(/was of 3 units, not 2/);
  });

  it('can be ordered again after it was denied', async () => {
    const { stock, ledger } = openLeasedStock([1, 0]);
    expect(await stock.deduct(2, { orderId: 'patient' })).toBeNull();
    ledger.levels[1] = 1;
    expect((await stock.deduct(2, { orderId: 'patient' }))?.units).toBe(2);
  });
});

describe('a refund', () => {
  it('gives units back once, to the segments that they came from', async () => {
    const { stocks, stock, ledger } = openLeasedStock([4, 4], {}, 3);
    const deduction = await stock.deduct(6);
    const refunds = await Promise.all(stocks.map((one) => one.refund(deduction!)));
    expect(refunds.filter((isRefunded) => isRefunded).length).toBeGreaterThanOrEqual(1);
    expect(await stock.refund(deduction!)).toBe(false);
    expect([ledger.levels, ledger.unitsTaken]).toEqual([[4, 4], 0]);
    expect(await stock.leftovers()).toEqual([]);
  });

  it('of an unknown order prevents that order later', async () => {
    const { stock, ledger } = openLeasedStock([4]);
    expect(await stock.refund('lost')).toBe(false);
    await expect(stock.deduct(1, { orderId: 'lost' })).rejects.toThrow(/"lost" was refunded/);
    expect(ledger.units).toBe(4);
  });

  it('that fails half way leaves units that can be found and put back', async () => {
    const { stock, ledger } = openLeasedStock([4, 4]);
    const deduction = await stock.deduct(6);
    const broken = new Error('the database is down');
    let calls = 0;
    ledger.before = async () => {
      if (++calls === 2) throw broken;
    };
    await expect(stock.refund(deduction!)).rejects.toBe(broken);
    expect(await stock.leftovers()).toMatchObject([{ orderId: deduction!.orderId, units: 6 }]);
    expect(await stock.recover()).toBe(2);
    expect(ledger.levels).toEqual([4, 4]);
    expect(await stock.refund(deduction!)).toBe(false);
  });
});

describe('a store that fails', () => {
  const broken = new Error('the database is down');

  it.each(['before', 'after'] as const)('%s a take rejects the call, and no unit is lost', async (when) => {
    const { stock, ledger } = openLeasedStock([4, 4]);
    ledger[when] = async (call) => {
      if (call === 'take') throw broken;
    };
    await expect(stock.deduct(2, { orderId: 'x' })).rejects.toBe(broken);
    expect([ledger.units, ledger.unitsTaken]).toEqual([8, 0]);
    expect(await stock.leftovers()).toEqual([]);
    ledger[when] = async () => {};
    expect((await stock.deduct(2, { orderId: 'x' }))?.units).toBe(2);
  });

  it('and cannot put back either leaves units that the next caller finds and puts back', async () => {
    const { stock, ledger } = openLeasedStock([4, 4]);
    ledger.after = async () => {
      throw broken;
    };
    await expect(stock.deduct(3, { orderId: 'x' })).rejects.toBe(broken);
    ledger.after = async () => {};
    const [leftover] = await stock.leftovers();
    expect(leftover).toMatchObject({ orderId: 'x', units: 3, since: expect.any(Date) });
    expect(leftover?.segments).toHaveLength(1);

    ledger.before = async (call) => {
      if (call === 'putBack') throw broken;
    };
    await expect(stock.recover()).rejects.toBe(broken);
    await expect(stock.deduct(5, { split: false })).rejects.toBe(broken);
    ledger.before = async () => {};
    expect((await stock.deduct(8))?.units).toBe(8);
    expect(await stock.leftovers()).toEqual([]);
    expect(ledger.unitsTaken).toBe(8);
  });

  it('and returns an invalid number is refused', async () => {
    for (const answer of [3, -1, 0.5, undefined, 1]) {
      const { stock, ledger } = openLeasedStock([4]);
      ledger.take = async () => answer as number;
      await expect(stock.deduct(2)).rejects.toThrow(LockConfigurationError);
      await expect(stock.deduct(2)).rejects.toThrow(
        /what the store’s take returns must be 0 or a whole number from 2 to 2/,
      );
    }
  });
});

describe('a store that returns what a driver made of a number', () => {
  it('is refused by available, which would join the digits', async () => {
    const { stock, ledger } = openLeasedStock([4, 0]);
    ledger.available = async (segment) => String(ledger.levels[segment]) as unknown as number;
    await expect(stock.available()).rejects.toThrow(/what the store’s available returns must be a whole number/);
    await expect(stock.available()).rejects.toThrow(LockConfigurationError);
  });

  it('is refused by refund, which would not know whether any unit is back', async () => {
    const { stock, ledger } = openLeasedStock([4]);
    await stock.deduct(1, { orderId: 'x' });
    ledger.putBack = async () => '0' as unknown as number;
    await expect(stock.refund('x')).rejects.toThrow(/what the store’s putBack returns must be a whole number/);
  });
});

describe('a process that dies', () => {
  it.each(['before', 'after'] as const)(
    '%s it has taken leaves units that the next caller finds and puts back',
    async (when) => {
      const { stock, ledger, die, begin, expire, survivor } = openDoomedStock([4, 4]);
      ledger[when] = () => die();
      begin(() => stock.deduct(3, { orderId: 'x' }));
      await expire();
      ledger[when] = async () => {};
      expect((await survivor.leftovers()).map(({ orderId }) => orderId)).toEqual(['x']);
      expect((await survivor.deduct(8))?.units).toBe(8);
      expect(await survivor.leftovers()).toEqual([]);
      expect(ledger.unitsTaken).toBe(8);
    },
  );

  it('in the middle of a split order leaves units that can be recovered', async () => {
    const { stock, ledger, die, begin, expire, survivor } = openDoomedStock([4, 4, 4]);
    let takes = 0;
    ledger.after = async (call) => {
      if (call === 'take' && ledger.unitsTaken > 0 && ++takes === 2) await die();
    };
    begin(() => stock.deduct(10));
    await expire();
    ledger.after = async () => {};
    expect(ledger.unitsTaken).toBe(8);
    expect(await survivor.recover()).toBe(8);
    expect(ledger.levels).toEqual([4, 4, 4]);
  });

  it('and continues later neither takes units that were put back nor reports a sale', async () => {
    const { stock, ledger, records, die, expire, survivor } = openDoomedStock([4]);
    const revived = deferred();
    let isFirst = true;
    records.beforeWrite = async (changes) => {
      const isSale = changes.some(({ name, value }) => name.includes('/orders/') && typeof value === 'string');
      if (!isSale || !isFirst) return;
      isFirst = false;
      void die();
      await revived.promise;
    };
    const late = stock.deduct(3, { orderId: 'x', waitMs: 5_000 });
    await expire();
    expect(await survivor.recover()).toBe(3);
    expect((await survivor.deduct(4))?.units).toBe(4);
    revived.resolve();
    expect(await late).toBeNull();
    expect([ledger.units, ledger.unitsTaken]).toEqual([0, 4]);
  });

  it('and continues while its units are put back has not sold them', async () => {
    const { stock, ledger, records, die, expire, survivor } = openDoomedStock([4]);
    const [revived, heard] = [deferred(), deferred()];
    const isSale = (changes: readonly RecordChange[]) =>
      changes.some(({ name, value }) => name.includes('/orders/x') && typeof value === 'string');
    records.beforeWrite = async (changes) => {
      if (!isSale(changes)) return;
      void die();
      await revived.promise;
    };
    records.afterWrite = async (changes) => {
      if (isSale(changes)) heard.resolve();
    };
    const late = stock.deduct(3, { orderId: 'x', waitMs: 5_000 });
    await expire();
    ledger.after = async (call) => {
      if (call !== 'putBack') return;
      revived.resolve();
      await heard.promise;
    };
    expect(await survivor.recover()).toBe(3);
    expect(await late).toMatchObject({ units: 3 });
    expect([ledger.units, ledger.unitsTaken]).toEqual([1, 3]);
  });

  it('after its order was recorded has sold it', async () => {
    const { stock, ledger, records, die, begin, expire, survivor } = openDoomedStock([4]);
    records.afterWrite = async (changes) => {
      if (changes.some(({ name, value }) => name.includes('/orders/') && typeof value === 'string')) await die();
    };
    begin(() => stock.deduct(3, { orderId: 'x' }));
    await expire();
    records.afterWrite = async () => {};
    expect(await survivor.deduct(3, { orderId: 'x' })).toMatchObject({ units: 3 });
    expect(await survivor.recover()).toBe(0);
    expect(ledger.unitsTaken).toBe(3);
  });

  it('in the middle of a recovery leaves nothing unrecovered', async () => {
    const { stock, ledger, die, begin, expire, survivor, stockOptions, backend } = openDoomedStock([4, 4]);
    ledger.after = () => die();
    begin(() => stock.deduct(3, { orderId: 'x' }));
    await expire();
    begin(() => survivor.recover());
    await expire();
    ledger.after = async () => {};
    await openShop(backend).stock('sku', stockOptions).recover();
    expect([ledger.levels, ledger.unitsTaken]).toEqual([[4, 4], 0]);
  });
});

describe('a refund of an order in progress', () => {
  it('waits until it is decided', async () => {
    const { stock, stocks, ledger, backend } = openLeasedStock([4], {}, 2);
    const [isTaking, mayGoOn] = [deferred(), deferred()];
    ledger.after = async (call) => {
      if (call !== 'take') return;
      isTaking.resolve();
      await mayGoOn.promise;
    };
    const sale = stock.deduct(3, { orderId: 'x' });
    await isTaking.promise;
    const refund = stocks[1]!.refund('x');
    await eventually(() => backend.contenders('sku/#0000').length === 2, 'the refund waits');
    mayGoOn.resolve();
    expect(await sale).toMatchObject({ units: 3 });
    expect(await refund).toBe(true);
    expect([ledger.units, ledger.unitsTaken]).toEqual([4, 0]);
  });
});

describe('a call that cannot be served', () => {
  it('times out while a segment that it needs is held, and does not report sold out', async () => {
    const { stock, shops, ledger } = openLeasedStock([0, 4]);
    const lock = shops[0]!.segmented('sku', { segments: 2 });
    const lease = await lock.acquire({ only: [1] });
    await expect(stock.deduct(1, { waitMs: 100 })).rejects.toThrow(LockTimeoutError);
    const abort = new AbortController();
    const waiting = stock.deduct(1, { signal: abort.signal });
    abort.abort(new Error('mine'));
    await expect(waiting).rejects.toThrow('mine');
    await lease.release();
    expect((await stock.deduct(1))?.units).toBe(1);
    expect(ledger.unitsTaken).toBe(1);
  });

  it.each([
    ['deduct', (stock: SegmentedStock) => stock.deduct(1, { orderId: 'x', waitMs: 20 })],
    ['refund', (stock: SegmentedStock) => stock.refund('x', { waitMs: 20 })],
    ['restock', (stock: SegmentedStock) => stock.restock(1, { waitMs: 20 })],
    ['available', (stock: SegmentedStock) => stock.available({ waitMs: 20 })],
  ])('times out while it reads what a server does not answer: %s', async (_what, call) => {
    const { stock, records } = openLeasedStock([4]);
    records.read = () => new Promise(() => {});
    await expect(call(stock)).rejects.toThrow(LockTimeoutError);
  });

  it.each([
    ['deduct', (stock: SegmentedStock) => stock.deduct(1, { orderId: 'x', waitMs: 20 })],
    ['refund', (stock: SegmentedStock) => stock.refund('x', { waitMs: 20 })],
    ['restock', (stock: SegmentedStock) => stock.restock(1, { restockId: 'x', waitMs: 20 })],
  ])('times out while it reads the record of an earlier call: %s', async (_what, call) => {
    const { stock, records } = openLeasedStock([4]);
    await stock.restock(1, { restockId: 'x' });
    await stock.deduct(1, { orderId: 'x' });
    records.isHanging = (name) => /\/(?:orders|restocks)\//.test(name);
    await expect(call(stock)).rejects.toThrow(LockTimeoutError);
  });

  it('times out while the store counts', async () => {
    const { stock, ledger } = openLeasedStock([4]);
    ledger.available = () => new Promise(() => {});
    await expect(stock.available({ waitMs: 20 })).rejects.toThrow(LockTimeoutError);
  });

  it('times out alone, without the calls with which it waited', async () => {
    const { stock, shops } = openLeasedStock([0, 0]);
    const lease = await shops[0]!.segmented('sku', { segments: 2 }).acquire({ only: [1] });
    const patient = stock.deduct(5);
    const hasty = stock.deduct(5, { waitMs: 50 });
    await expect(hasty).rejects.toThrow(LockTimeoutError);
    await lease.release();
    expect(await patient).toBeNull();
  });

  it('rejects when the servers are unavailable', async () => {
    const { stock, records, ledger } = openLeasedStock([4]);
    records.beforeWrite = () => Promise.reject(new LockUnavailableError('down'));
    await expect(stock.deduct(1)).rejects.toThrow('down');
    await expect(stock.deduct(5)).rejects.toThrow('down');
    records.beforeWrite = async () => {};
    expect((await stock.deduct(1))?.units).toBe(1);
    expect(ledger.unitsTaken).toBe(1);
  });
});

describe('restocking', () => {
  it('spreads the units over the segments, once per id, and buyers find them at once', async () => {
    const { stock, ledger } = openLeasedStock([0, 0, 0]);
    expect(await stock.deduct(2)).toBeNull();
    await stock.restock(7, { restockId: 'lorry' });
    await stock.restock(7, { restockId: 'lorry' });
    expect(ledger.levels).toEqual([3, 2, 2]);
    expect(await stock.available()).toBe(7);
    expect((await stock.deduct(2))?.units).toBe(2);
  });

  it('and counting need a store that supports them', async () => {
    const { take, putBack }: SegmentStore = { take: async () => 0, putBack: async () => 0 };
    const { stock } = openLeasedStock([0], { store: { take, putBack } });
    await expect(stock.restock(1)).rejects.toThrow(/restock needs a store with add\(\)/);
    await expect(stock.available()).rejects.toThrow(/available needs a store with available\(\)/);
  });
});
